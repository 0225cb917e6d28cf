/** What is served here for programs. */
export const PATHS: Readonly<Record<string, string>> = {
  '/native': 'WebSocket: everything that Corral can do, as JSON-RPC',
  '/mcp': 'MCP: lets any agent ask a human',
  '/health': 'whether the daemon lives',
  '/ready': 'whether each listener is open, and how busy the daemon is',
  '/metrics': 'counters, for Prometheus',
}

/** Pages of the dashboard, as web/route.ts has them: each is the same HTML. */
export const PAGES = [
  '/',
  '/inbox',
  '/s/:id',
  '/s/:id/changes',
  '/search',
  '/relay',
  '/system',
  '/devices',
  '/settings',
  '/signin',
  '/welcome',
] as const

/** Its files. Which of them there are is in the manifest of the build; no path is made from a request. */
export const FILES = ['/assets/:name', '/icons/:name', '/sw.js', '/manifest.webmanifest'] as const
