"""The page around a studio in a browser; it loads nothing from elsewhere."""

from __future__ import annotations

from html import escape

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="stylesheet" href="/static/css/xterm.css">
<script src="/static/js/textual.js"></script>
<style>
@font-face {{ font-family: "Roboto Mono"; font-weight: 100 700;
  src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf"); }}
html, body {{ margin: 0; height: 100%; background: #0f1117; color: #d7dae3;
  font-family: "Roboto Mono", monospace; }}
.textual-terminal {{ width: 100vw; height: 100vh; }}
.over {{ display: none; position: absolute; inset: 0; z-index: 10; background: #0f1117;
  align-items: center; justify-content: center; flex-direction: column; gap: 1em; }}
body.-closed .over {{ display: flex; }}
button {{ font: inherit; padding: .6em 1.4em; border: 0; background: #8b7cf6; color: #0f1117; }}
</style>
</head>
<body>
<div class="over"><div>The studio was closed.</div>
<button type="button" onclick="location.reload()">Open it again</button></div>
<div id="terminal" class="textual-terminal"
 data-session-websocket-url="{socket}" data-font-size="{size}"></div>
<script>
// Keys go to the terminal from the start, without a click; the studio hears of the focus once it is
// connected, and shows its keys only then.
const seek = setInterval(() => {{
  const area = document.querySelector(".xterm-helper-textarea");
  if (area && document.body.classList.contains("-first-byte")) {{
    clearInterval(seek); area.blur(); area.focus();
  }}
}}, 50);
</script>
</body>
</html>
"""


def page(title: str, socket: str, size: int) -> str:
    """The page; `socket` is the address of its WebSocket, `size` the font's in pixels."""
    return _PAGE.format(title=escape(title), socket=escape(socket), size=size)
