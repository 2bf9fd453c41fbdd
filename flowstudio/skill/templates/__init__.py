"""Templates of flow skills: what `flowstudio new` and the studio's wizard begin with."""
