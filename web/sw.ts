/// <reference lib="webworker" />
import { BUILD, FILES, OFFLINE } from 'corral:precache'

/*
 * Keeps the files that have a hash in their names, so that the dashboard starts without waiting for them. It answers for
 * nothing else: not for the API, not for pages, except that it says so when the daemon cannot be reached.
 */

const worker = globalThis as unknown as ServiceWorkerGlobalScope
const CACHE = `corral-${BUILD}`
const KEPT: ReadonlySet<string> = new Set(FILES)

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([...FILES]))
      .then(() => worker.skipWaiting()),
  )
})

worker.addEventListener('activate', (event) => {
  event.waitUntil(forgetOthers().then(() => worker.clients.claim()))
})

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== worker.location.origin) return
  if (KEPT.has(pathname)) event.respondWith(kept(request))
  else if (request.mode === 'navigate') event.respondWith(fetch(request).catch(offline))
})

/** The name says it all: which encoding somebody else was sent does not matter. */
async function kept(request: Request): Promise<Response> {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request)
}

async function offline(): Promise<Response> {
  return (await caches.match(OFFLINE, { ignoreVary: true })) ?? Response.error()
}

async function forgetOthers(): Promise<void> {
  const names = await caches.keys()
  const others = names.filter((name) => name.startsWith('corral-') && name !== CACHE)
  await Promise.all(others.map((name) => caches.delete(name)))
}
