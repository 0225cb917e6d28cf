import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The recipe's files, as CONTRIBUTING.md has them: each block names its file in the first line. */
function recipe(): Map<string, string> {
  const [, section] = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split('## How to add a dialect\n')
  const blocks = section!.split('\n## ')[0]!.matchAll(/^ *```ts\n *\/\/ (\S+)\n([^]*?)^ *```$/gm)
  return new Map(
    [...blocks].map(([, path, code]) => {
      const indent = /^ */.exec(code!)![0]
      return [path!, code!.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] as const
    }),
  )
}

/** A checkout to which somebody has added the dialect. */
function checkout(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'corral-toy-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const name of ['src', 'package.json', 'scripts/rooms.ts'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const [path, code] of recipe()) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, path.endsWith('list.ts') ? withToy(readFileSync(file, 'utf8'), code) : code)
  }
  return root
}

/** The list with the recipe's two lines: another import, and the list itself in place of the old one. */
function withToy(list: string, lines: string): string {
  const [added, exported] = lines.trim().split('\n')
  assert.match(list, /^export const DIALECTS = .*$/m)
  return `${added}\n${list.replace(/^export const DIALECTS = .*$/m, exported!)}`
}

/** Says something to the toy, and resolves with its answer. */
async function say(daemon: TestDaemon, text: string): Promise<string> {
  const socket = createConnection(daemon.listeners['toy']!)
  socket.write(`${text}\n`)
  for await (const line of createInterface({ input: socket })) {
    socket.destroy()
    return line
  }
  throw new Error('no answer')
}

test('the recipe in CONTRIBUTING.md adds a dialect', async (t) => {
  const root = checkout(t)
  const added = ['index', 'open', 'serving'].map((name) => `src/dialects/toy/${name}.ts`)
  assert.deepEqual([...recipe().keys()], [...added, 'src/dialects/list.ts'])
  execFileSync(process.execPath, ['scripts/rooms.ts'], { cwd: root, stdio: 'pipe' })

  const daemon = await startDaemon({ program: join(root, 'src/main.ts') })
  t.after(() => daemon.stop())
  assert.equal(daemon.listeners['toy'], join(daemon.corralHome, 'toy.sock'))
  assert.equal(await say(daemon, 'hello'), 'echo: hello')

  const configure = async (yaml: string): Promise<void> => {
    writeFileSync(join(daemon.corralHome, 'config.yaml'), yaml)
    await daemon.terminate()
    await daemon.restart()
  }
  await configure('toy: { agent: nobody }\n')
  assert.equal(await say(daemon, 'hello'), 'error: agent_unknown')
  await configure('toy: { enabled: false }\n')
  assert.equal(daemon.listeners['toy'], undefined)
})
