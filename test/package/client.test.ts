import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { newUser, pack, ROOT, succeed, type NewUser } from './support.ts'

/** What a page loads of the client, minified and compressed. */
const LIMIT = 10_000

let user: NewUser
/** A project that has nothing but the package. */
let project: string
let installed: string

before(async () => {
  user = newUser()
  const packed = await pack(user, user.home)
  project = join(user.home, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n')
  await succeed('npm', ['install', '--offline', '--no-audit', packed.path], { env: user.env, cwd: project })
  installed = join(project, 'node_modules/corral')
})
after(() => user.remove())

/** Every kind of thing that the library has, with its type written out. */
const USE = `import { connect, NativeError, TurnFailed, type Answer, type Approval, type Corral, type Cursor, type Events, type Session } from 'corral/client'

export async function use(): Promise<string> {
  const corral: Corral = await connect({ url: 'ws://127.0.0.1:2677/native', token: 't' })
  const session: Session = await corral.sessions.start({ agent: 'demo', directory: '.', mode: 'ask' })
  const answer: Answer = await session.turn('hello', { signal: AbortSignal.timeout(1000) })
  const { turns } = await corral.call('turn.list', { sessionId: session.id, limit: 3 })
  const state: 'queued' | 'running' | 'completed' | 'failed' | 'interrupted' | 'cancelled' = turns[0]!.state
  const feed = corral.events({ types: ['turn.completed', 'turn.failed'] })
  for await (const event of feed) {
    const one: Events['turn.completed'] | Events['turn.failed'] = event
    if (one.type === 'turn.failed') throw new TurnFailed(one.error, one.turnId)
  }
  const cursor: Cursor | null = feed.cursor
  for await (const approval of corral.approvals()) {
    const same: Approval = approval
    if ((await same.allow({ forSession: true })).counted) break
  }
  for await (const { sessions } of corral.sessions.watch()) if (sessions[0]?.attention === 'done') break
  await corral.call('daemon.status')
  try {
    // @ts-expect-error: there is no such method
    await corral.call('session.explode')
    // @ts-expect-error: it needs a session
    await corral.call('session.get')
    // @ts-expect-error: there is no such event
    corral.events({ types: ['turn.exploded'] })
  } catch (error) {
    if (error instanceof NativeError && error.code === 'session_not_found') return error.remedy
  }
  corral.close()
  return answer.text + state + (cursor?.log ?? '')
}
`

const NODE = { lib: ['es2022'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] }
const PAGE = { lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] }

const KINDS = {
  'nodenext with the types of Node': { module: 'nodenext', moduleResolution: 'nodenext', ...NODE },
  'bundler with the types of Node': { module: 'esnext', moduleResolution: 'bundler', ...NODE },
  'bundler with those of browsers': { module: 'esnext', moduleResolution: 'bundler', ...PAGE },
}

for (const [kind, options] of Object.entries(KINDS)) {
  test(`a strict project compiles: ${kind}`, async () => {
    writeFileSync(join(project, 'use.ts'), USE)
    const compilerOptions = {
      target: 'es2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      ...options,
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    await succeed(process.execPath, [compiler, '-p', project], { env: user.env, cwd: project })
  })
}

test('the declaration is one file that names no other package', () => {
  const text = readFileSync(join(installed, 'dist/client/index.d.ts'), 'utf8')
  assert.doesNotMatch(text, /^import |\bfrom '|\bimport\(|zod|NodeJS/m)
})

test('a bundler takes the file for browsers, which needs nothing of Node, and is small', async (t) => {
  const entry = join(project, 'page.js')
  writeFileSync(entry, `import { connect } from 'corral/client'\nconsole.log(connect)\n`)
  const bundle = await rolldown({ cwd: project, input: entry, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  const [chunk, ...others] = output
  assert.equal(others.length, 0)
  assert.deepEqual(chunk.imports, [])
  assert.deepEqual(
    chunk.moduleIds
      .filter((id) => id.includes('/node_modules/corral/'))
      .map((id) => id.split('/corral/').at(-1)),
    ['dist/client/browser.js'],
  )
  assert.doesNotMatch(chunk.code, /node:|\brequire\(|\bprocess\.|\bBuffer\b/)
  const size = gzipSync(chunk.code, { level: 9 }).length
  t.diagnostic(`${size} bytes, minified and compressed`)
  assert.ok(size < LIMIT, `${size} bytes`)
})

test('the example runs with the installed package', async () => {
  const corral = join(installed, 'bin/corral.js')
  const options = { env: user.env, cwd: project }
  cpSync(join(ROOT, 'examples/ask.ts'), join(project, 'ask.ts'))
  await succeed(process.execPath, [corral, 'start', '--detach'], options)
  try {
    const said = await succeed(process.execPath, ['ask.ts', 'hello from a library', 'demo'], options)
    assert.match(said, /echo: hello from a library\n\(\d+ tokens, /)
  } finally {
    await succeed(process.execPath, [corral, 'stop', '--now'], options)
  }
  assert.ok(existsSync(join(user.home, '.corral')))
})
