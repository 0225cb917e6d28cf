import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { freePort } from '../support/free-port.ts'
import { MAIN } from '../support/program.ts'
import { until } from '../support/wait.ts'
import { browserFor, daemonFor, live, nativeFor, signIn, visit, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** The worker has the page, and all that it keeps. */
async function controlled(page: Page): Promise<void> {
  await until(
    () => page.evaluate(() => navigator.serviceWorker.controller?.state === 'activated'),
    'the worker is there',
  )
}

test('without the daemon there is a page that says so, and with it all is as before', options, async (t) => {
  const daemon = await daemonFor(t, { env: { CORRAL_PORT: String(await freePort()) } })
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /net::ERR_/ })
  const page = await browser.page()
  await signIn(page, client)
  await controlled(page)
  await daemon.kill9()
  await page.reload()
  await page.getByRole('heading', { name: 'Corral cannot be reached' }).waitFor()
  const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  assert.notEqual(colour, 'rgba(0, 0, 0, 0)', 'it has its style')
  await daemon.restart()
  await page.getByRole('link', { name: 'try again' }).click()
  await live(page)
})

test('the worker answers for files with a hash in their names, and for nothing else', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  await controlled(page)
  const answers: [path: string, byWorker: boolean][] = []
  page.on('response', (response) =>
    answers.push([new URL(response.url()).pathname, response.fromServiceWorker()]),
  )
  await visit(page, `${new URL(page.url()).origin}/settings`)
  await until(() => answers.some(([path]) => path === '/whoami'))
  const unkept = answers.filter(([path, byWorker]) => /^\/assets\/.*\.(?:js|css)$/.test(path) && !byWorker)
  assert.deepEqual(unkept, [])
  const claimed = answers.filter(([path, byWorker]) => /whoami|signin|icons|sw\.js/.test(path) && byWorker)
  assert.deepEqual(claimed, [])
  const kept = await page.evaluate(async () => {
    const names = await caches.keys()
    const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return keys.flat().map(({ url }) => new URL(url).pathname)
  })
  assert.ok(kept.length > 5 && kept.every((path) => path.startsWith('/assets/')))
})

test('the worker never answers for the API, with the daemon or without it', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /net::ERR_|status of 4\d\d|WebSocket/ })
  const page = await browser.page()
  await signIn(page, client)
  await controlled(page)
  const paths = ['/health', '/ready', '/mcp', '/metrics', '/whoami', '/native', '/nothing/at/all']
  const answers = new Map<string, boolean>()
  page.on('response', (response) => {
    answers.set(new URL(response.url()).pathname, response.fromServiceWorker())
  })
  const ask = (init: { method: string }): Promise<string[]> =>
    page.evaluate(
      ([all, how]) =>
        Promise.all(
          all.map((path) =>
            fetch(path, how).then(
              () => path,
              () => 'nobody',
            ),
          ),
        ),
      [paths, init] as const,
    )
  for (const method of ['GET', 'POST']) {
    answers.clear()
    assert.deepEqual(await ask({ method }), paths)
    await until(() => paths.every((path) => answers.has(path)), 'all have been answered')
    assert.deepEqual(
      paths.filter((path) => answers.get(path)),
      [],
    )
  }
  await daemon.kill9()
  assert.deepEqual(new Set(await ask({ method: 'GET' })), new Set(['nobody']), 'nothing was kept of them')
})

test('a browser would install it', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { profile: true })
  const page = await browser.page()
  await signIn(page, client)
  await controlled(page)
  const devtools = await browser.context.newCDPSession(page)
  const { data, errors } = await devtools.send('Page.getAppManifest')
  assert.deepEqual(errors, [])
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
  assert.deepEqual(installabilityErrors, [])
  const manifest = JSON.parse(data ?? '{}') as {
    id: string
    start_url: string
    scope: string
    display: string
    icons: { src: string; sizes: string; purpose?: string }[]
  }
  const { id, start_url, scope, display } = manifest
  assert.deepEqual(
    { id, start_url, scope, display },
    { id: '/', start_url: '/', scope: '/', display: 'standalone' },
  )
  const sizes = await page.evaluate(
    (icons) =>
      Promise.all(
        icons.map(async ({ src }) => {
          const image = new Image()
          image.src = src
          await image.decode()
          return `${image.naturalWidth}x${image.naturalHeight}`
        }),
      ),
    manifest.icons.filter(({ purpose }) => purpose !== undefined),
  )
  assert.deepEqual(sizes, ['192x192', '512x512'])
})

test('a daemon with a newer dashboard says so, and a reload shows it', options, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'corral-program-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  // The tests run a bundle already, or it is made here.
  if (existsSync(join(dirname(MAIN), 'web/manifest.json')))
    cpSync(dirname(MAIN), directory, { recursive: true })
  else execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts'), directory])
  const program = join(directory, 'main.js')
  const daemon = await daemonFor(t, { program, env: { CORRAL_PORT: String(await freePort()) } })
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /net::ERR_/ })
  const page = await browser.page()
  await signIn(page, client)
  await controlled(page)
  await daemon.kill9()
  rewrite(join(directory, 'web'))
  await daemon.restart()
  await page.getByText('There is a new version of this page').waitFor()
  const reloaded = page.waitForEvent('load')
  await page.getByRole('button', { name: 'Reload' }).click()
  await reloaded
  await live(page)
  await page.getByText('There is a new version of this page').waitFor({ state: 'hidden' })
})

/** As if it had been built from other sources. */
function rewrite(web: string): void {
  const manifest = join(web, 'manifest.json')
  const about = JSON.parse(readFileSync(manifest, 'utf8')) as {
    files: Record<string, { etag: string; encodings: string[] }>
  }
  about.files['/sw.js'] = { ...about.files['/sw.js']!, etag: 'another', encodings: [] }
  writeFileSync(manifest, JSON.stringify(about))
  const script = join(web, 'sw.js')
  writeFileSync(script, readFileSync(script, 'utf8').replace(/corral-[0-9a-f]{12}/, 'corral-ffffffffffff'))
}
