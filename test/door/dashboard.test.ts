import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { ask, doorOf, tokenOf } from './support.ts'

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})
after(() => daemon.stop())

const PAGES = [
  '/',
  '/inbox',
  '/s/0190-x',
  '/s/0190-x/changes',
  '/search',
  '/relay',
  '/system',
  '/devices',
  '/settings',
  '/signin',
  '/welcome',
]
const HTML = { accept: 'text/html,*/*;q=0.8' }

interface Raw {
  status: number
  headers: Record<string, unknown>
  body: Buffer
}

/** The path as it is written here: nothing on this side makes it shorter. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  const { hostname, port } = new URL(doorOf(daemon))
  return new Promise((resolve, reject) => {
    const req = request({ hostname, port, path, method, headers }, (res) => {
      const parts: Buffer[] = []
      res.on('data', (part: Buffer) => parts.push(part))
      res.on('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(parts) }),
      )
    })
    req.on('error', reject).end()
  })
}

async function assetsOf(path: string): Promise<string[]> {
  const { body } = await raw(path, HTML)
  return [...body.toString().matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, found]) => found!)
}

test('every page is the same HTML, with nothing inline and nothing from elsewhere', async () => {
  const first = await raw('/', HTML)
  const text = first.body.toString()
  assert.equal(first.headers['content-type'], 'text/html; charset=utf-8')
  assert.ok(first.body.length < 2500)
  assert.doesNotMatch(text, /<style|<script>|javascript:|https?:\/\/| on\w+=| style=/)
  assert.ok(!text.includes(tokenOf(daemon)) && !text.includes(daemon.home))
  for (const path of PAGES) {
    const { status, body } = await raw(path, HTML)
    assert.deepEqual([path, status, body.toString()], [path, 200, text])
  }
})

test('a person at a wrong address gets the page, which says so; a program gets nothing', async () => {
  const page = await raw('/', HTML)
  const visit = await raw('/nowhere', HTML)
  assert.deepEqual([visit.status, String(visit.body)], [404, String(page.body)])
  const policy = 'content-security-policy'
  assert.equal(visit.headers[policy], page.headers[policy])
  const program = await raw('/nowhere', { accept: 'application/json' })
  assert.deepEqual([program.status, String(program.body).includes('<html')], [404, false])
})

test('the policy lets nothing in, and text becomes no script', async () => {
  const { headers } = await raw('/inbox', HTML)
  assert.equal(
    headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types corral; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  )
  const { 'x-content-type-options': type, 'x-frame-options': frame, 'referrer-policy': referrer } = headers
  assert.deepEqual([type, frame, referrer], ['nosniff', 'DENY', 'no-referrer'])
  const { 'cross-origin-opener-policy': opener, 'cross-origin-resource-policy': resource } = headers
  assert.deepEqual([opener, resource], ['same-origin', 'same-origin'])
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('a page is looked at again each time; a file with a hash in its name never', async () => {
  const page = await raw('/', HTML)
  assert.equal(page.headers['cache-control'], 'no-cache')
  const again = await raw('/', { ...HTML, 'if-none-match': String(page.headers['etag']) })
  assert.deepEqual([again.status, again.body.length], [304, 0])
  assert.equal((await raw('/', { ...HTML, 'if-none-match': '"other"' })).status, 200)
  const assets = (await assetsOf('/')).filter((path) => path.startsWith('/assets/'))
  assert.ok(assets.some((path) => path.endsWith('.js')) && assets.some((path) => path.endsWith('.css')))
  for (const path of assets) {
    const { status, headers } = await raw(path)
    assert.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'], path)
    assert.equal((await raw(path, { 'if-none-match': String(headers['etag']) })).status, 304)
  }
})

test('everything that the page names is there, also the worker and what makes it an application', async () => {
  const named = [...(await assetsOf('/')), '/sw.js', '/icons/mark-192.png', '/icons/mark-512.png']
  for (const path of named) assert.equal((await raw(path)).status, 200, path)
  const manifest = await raw('/manifest.webmanifest')
  assert.equal(manifest.headers['content-type'], 'application/manifest+json')
  const { icons } = JSON.parse(manifest.body.toString()) as { icons: { src: string }[] }
  for (const { src } of icons) assert.equal((await raw(src)).status, 200, src)
  const worker = await raw('/sw.js')
  assert.deepEqual(
    [worker.headers['content-type'], worker.headers['cache-control']],
    ['text/javascript; charset=utf-8', 'no-cache'],
  )
})

test('a file comes as small as its reader can take it, and is the same', async () => {
  const path = (await assetsOf('/')).find((one) => one.endsWith('.js'))!
  const plain = await raw(path)
  const br = await raw(path, { 'accept-encoding': 'gzip, deflate, br' })
  const gz = await raw(path, { 'accept-encoding': 'gzip;q=0.8, br;q=0' })
  const none = await raw(path, { 'accept-encoding': 'identity, zstd' })
  const encodings = [plain, br, gz, none].map(({ headers }) => headers['content-encoding'])
  assert.deepEqual(encodings, [undefined, 'br', 'gzip', undefined])
  assert.ok(brotliDecompressSync(br.body).equals(plain.body) && gunzipSync(gz.body).equals(plain.body))
  assert.ok(br.body.length < gz.body.length && gz.body.length < plain.body.length)
  assert.match(String(br.headers['vary']), /accept-encoding/)
  const tags = [plain, br, gz].map(({ headers }) => headers['etag'])
  assert.equal(new Set(tags).size, 3)
})

test('who asks for the head gets no body', async () => {
  for (const path of ['/', '/settings', '/sw.js', ...(await assetsOf('/'))]) {
    const [get, head] = [await raw(path, HTML), await raw(path, HTML, 'HEAD')]
    assert.deepEqual([head.status, head.body.length], [200, 0], path)
    assert.equal(head.headers['content-length'], get.headers['content-length'])
  }
})

test('no path leads out of what was built', async () => {
  const attacks = [
    '/assets/nothing.js',
    '/assets/manifest.json',
    '/manifest.json',
    '/index.html',
    '/assets/../manifest.json',
    '/assets/..%2fmanifest.json',
    '/assets/%2e%2e/manifest.json',
    '/assets/..%5cmanifest.json',
    '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    '/assets/x%00.js',
    '/assets/__proto__',
    '/icons/constructor',
    '/icons/../sw.js',
    '/s',
    '/s/',
    '/s/x/other',
    '/nothing',
  ]
  const page = await raw('/', HTML)
  for (const path of attacks) {
    const { status, body } = await raw(path, HTML)
    assert.deepEqual([path, status], [path, 404])
    assert.ok(body.length < 100 || body.equals(page.body), path)
  }
  const named = (await assetsOf('/')).find((one) => one.endsWith('.js'))!
  assert.equal((await raw(`${named}.br`)).status, 404)
  assert.equal((await ask(`${doorOf(daemon)}${named}`, {}, 'POST')).status, 405)
})
