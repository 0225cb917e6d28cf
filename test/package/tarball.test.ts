import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newUser, pack, ROOT, run, succeed, type NewUser, type Packed } from './support.ts'

let user: NewUser
let packed: Packed
/** Where npm puts programs that are installed for the whole prefix. */
let corral: string
let installed: string

before(async () => {
  user = newUser()
  packed = await pack(user, user.home)
  const prefix = join(user.home, 'prefix')
  await succeed('npm', ['install', '--global', '--offline', '--prefix', prefix, packed.path], {
    env: user.env,
  })
  corral = join(prefix, 'bin/corral')
  installed = join(prefix, 'lib/node_modules/corral')
})
after(() => user.remove())

const WANTED = [
  'dist/main.js',
  'dist/writer.js',
  'dist/demo.js',
  'dist/web/manifest.json',
  'dist/client/node.js',
  'dist/client/browser.js',
  'dist/client/index.d.ts',
  'docs/schema/native.schema.json',
  'docs/schema/openrpc.json',
]

test('the package has what is needed, and nothing else', (t) => {
  const kinds = new Set(packed.files.map((path) => path.split('/')[0]))
  assert.deepEqual(
    kinds,
    new Set(['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'docs', 'package.json']),
  )
  const others = packed.files.filter((path) => path !== 'dist/client/index.d.ts')
  for (const path of others) assert.doesNotMatch(path, /\.(tsx?|map|test\..*)$/)
  for (const wanted of WANTED) {
    assert.ok(packed.files.includes(wanted), wanted)
  }
  t.diagnostic(`${packed.size} bytes to fetch, ${packed.unpackedSize} bytes on the disk`)
  assert.ok(packed.size < 3_000_000, `${packed.size} bytes to fetch`)
  assert.ok(packed.unpackedSize < 9_000_000, `${packed.unpackedSize} bytes on the disk`)
})

test('the pages say how large it is', () => {
  const real = [packed.size, packed.unpackedSize]
  for (const page of ['docs/install.md', 'CONTRIBUTING.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const [, ...said] = /about ([\d.]+) MB to fetch, ([\d.]+) MB on the disk/.exec(text) ?? []
    assert.equal(said.length, real.length, page)
    for (const [at, size] of real.entries()) {
      const ratio = size / 1e6 / Number(said[at])
      assert.ok(ratio > 0.9 && ratio < 1.1, `${page}: ${said[at]} MB, and there are ${size} bytes`)
    }
  }
})

test('it needs no other package', () => {
  const names = readdirSync(join(installed, '..')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(names, ['corral'])
  assert.equal(readdirSync(installed).includes('node_modules'), false)
})

test('the manifest is one that can be published', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >
  assert.equal(manifest['private'], undefined)
  assert.equal(manifest['dependencies'], undefined)
  for (const name of ['name', 'version', 'description', 'license', 'keywords', 'engines', 'bin', 'exports'])
    assert.ok(manifest[name], name)
})

/** The packages that the bundler says, in its comments, to have put in. */
function packagesIn(directory: string): Set<string> {
  const texts = readdirSync(directory)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(directory, name), 'utf8'))
  const found = texts.flatMap((text) => [
    ...text.matchAll(/^\/\/#region node_modules\/(@[^/]+\/[^/]+|[^/]+)/gm),
  ])
  return new Set(found.map(([, name]) => name!))
}

test('there is a notice for all code of others', () => {
  const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-NOTICES'), 'utf8')
  const named = new Set([...notices.matchAll(/^- (\S+) \d/gm)].map(([, name]) => name!))
  const bundled = packagesIn(join(installed, 'dist'))
  assert.ok(bundled.size > 20, 'the bundler names what it puts in')
  for (const name of bundled) assert.ok(named.has(name), name)
  // The dashboard is minified: what its sources import is in it.
  for (const name of ['preact', '@preact/signals', 'marked', 'uplot', 'lucide-static'])
    assert.ok(named.has(name), name)
  // This is inside of another package, and not installed here by itself.
  const schema = readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.js'))
  const hasAjv = schema.some((name) =>
    /ajv implementation error/.test(readFileSync(join(installed, 'dist', name), 'utf8')),
  )
  assert.equal(named.has('ajv'), hasAjv)
  for (const name of named) {
    const section = notices.slice(notices.indexOf(`\n${name} `)).split(/\n-{10,}\n/)[1] ?? ''
    assert.ok(section.trim().length > 50, `${name} has a licence text`)
  }
})

test('from nothing to an answer: install, start, talk, stop', async () => {
  const options = { env: user.env, cwd: user.home }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  assert.equal((await succeed(corral, ['--version'], options)).trim(), version)
  assert.match(await succeed(corral, ['start', '--detach'], options), /runs in the background/)
  try {
    const said = await succeed(corral, ['new', '--agent', 'demo', 'hello from a package'], options)
    assert.match(said, /echo: hello from a package/)
    // Enough events for the thread that writes under load.
    const long = await succeed(corral, ['new', '--agent', 'demo', '[[drip 5000 0]]'], options)
    assert.ok(long.length > 10_000)
    assert.doesNotMatch(readFileSync(join(user.home, '.corral/corral.log'), 'utf8'), /thread died/)
    const status = JSON.parse(await succeed(corral, ['status', '--json'], options)) as {
      listeners: { name: string; address: string }[]
    }
    const { address } = status.listeners.find(({ name }) => name === 'corral')!
    const page = await fetch(address, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /<script type="module"/)
  } finally {
    await succeed(corral, ['stop', '--now'], options)
  }
})

const SYSTEM = '/usr/bin/node'
const systemVersion = spawnSync(SYSTEM, ['--version']).stdout?.toString().trim() ?? ''
const isOld = /^v(1[0-9]|2[0-3])\./.test(systemVersion)

test(
  'an older Node is told what to do',
  { skip: isOld ? false : 'no older Node is installed here' },
  async () => {
    const { code, stdout, stderr } = await run(SYSTEM, [corral, 'ls'], { env: user.env, cwd: user.home })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`needs Node.js 24 or newer, and this is ${systemVersion}`))
    assert.match(stderr, /nvm install 24/)
    assert.doesNotMatch(stderr, /\n\s+at /)
  },
)
