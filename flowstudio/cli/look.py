"""The former place of `find_skill`."""

from flowstudio.cli.find import find_skill as find_skill
