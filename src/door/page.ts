import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'

const STYLE = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
code, pre { font: 0.9em ui-monospace, monospace }
pre { padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.4rem; overflow: auto }
td { padding: 0.15rem 1rem 0.15rem 0; vertical-align: top }
`

/** What is served here, for people and for programs. */
export const PATHS: Readonly<Record<string, string>> = {
  '/native': 'WebSocket: everything that Corral can do, as JSON-RPC',
  '/mcp': 'MCP: lets any agent ask a human',
  '/health': 'whether the daemon lives',
  '/ready': 'whether each listener is open, and how busy the daemon is',
  '/metrics': 'counters, for Prometheus',
}

const rows = Object.entries(PATHS)
  .map(([path, text]) => `<tr><td><code>${path}</code><td>${text}`)
  .join('\n')

/** For a person's browser. It needs nothing from anywhere, and says nothing about this daemon that is not in the source. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Corral</title>
<style>${STYLE}</style>
<h1>Corral is running</h1>
<p>Corral runs coding agents (Claude Code, Codex, Gemini CLI, OpenCode and others) as durable sessions. This is its own
port; a dashboard will be here one day. Until then, talk to it from a terminal:
<pre>corral new "Why does the build fail?"
corral ls
corral approval ls
corral --help</pre>
<p>To let a phone or another program in, run <code>corral pair</code>. Programs show the token in the file
<code>token</code> in Corral’s data directory: <code>corral token show</code> prints it.
<table>
${rows}
</table>
</html>
`

const hash = createHash('sha256').update(STYLE).digest('base64')

export const PAGE_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': Buffer.byteLength(PAGE),
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}
