import type { IncomingMessage } from 'node:http'
import { sendJson, type HttpApp, type HttpHandler } from '../transports/http.ts'
import { FILES, PAGES, PATHS } from './paths.ts'
import { eventLoopLag, type Readiness } from './readiness.ts'
import type { SignIn, SignInParts } from './sign-in.ts'
import type { Web } from './web.ts'

export interface PublicParts {
  readiness(): Readiness
  onFault(error: unknown): void
}

/** The dashboard, loaded by the first browser: who has none does not pay for it. */
export type Dashboard = () => Promise<Web>

export function dashboardFor(onFault: PublicParts['onFault']): Dashboard {
  return once(async () => (await import('./web.ts')).createWeb(onFault))
}

/** A person who follows a link or types an address, and not a program. */
export function isVisit({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html')
}

/** What everybody may ask who passes the guard against web pages: nothing in it is a secret. */
export function addPublicRoutes(
  app: HttpApp,
  dashboard: Dashboard,
  readiness: PublicParts['readiness'],
): void {
  /** Monitors often ask for the head only. */
  const route = (path: string, handler: HttpHandler): void => {
    for (const method of ['GET', 'HEAD'] as const) app.route(method, path, handler)
  }
  for (const path of PAGES) {
    route(path, async ({ req, res }) => {
      if (path === '/' && wantsJson(req.headers.accept))
        return sendJson(res, 200, JSON.stringify({ name: 'corral', paths: PATHS }))
      await (await dashboard()).page(req, res)
    })
  }
  for (const path of FILES) {
    route(path, async ({ req, res }) => (await dashboard()).file(pathOf(req.url), req, res))
  }
  route('/health', ({ res }) => sendJson(res, 200, '{"status":"ok"}'))
  route('/ready', async ({ res }) => {
    const lagMs = await eventLoopLag()
    const { status, listeners } = readiness()
    const usable = status === 'ready' || status === 'degraded'
    sendJson(res, usable ? 200 : 503, JSON.stringify({ status, listeners, lagMs }))
  })
}

/** How browsers come in and go; also loaded by the first. */
export function addSignInRoutes(app: HttpApp, parts: SignInParts): void {
  const load = once(async (): Promise<SignIn> => (await import('./sign-in.ts')).createSignIn(parts))
  app.route('POST', '/signin', async ({ req, res }) => (await load()).signIn(req, res))
  app.route('POST', '/signout', async ({ req, res }) => (await load()).signOut(req, res))
  app.route('GET', '/whoami', async ({ req, res }) => (await load()).whoami(req, res))
}

export function pathOf(url = '/'): string {
  return url.split('?', 1)[0]!
}

function wantsJson(accept = ''): boolean {
  return accept.includes('application/json') && !accept.includes('text/html')
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}
