import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type Api, type NativeClient } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { CLAUDE } from '../support/claude-env.ts'
import { CODEX } from '../support/codex-env.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { GEMINI } from '../support/gemini-env.ts'
import { OPENCODE } from '../support/opencode-env.ts'
import { arrival, exitOf } from '../support/wait.ts'
import type { RealAgent } from './conformance/agent.ts'
import { claude, codex, gemini, opencode } from './conformance/agents.ts'

/** The program as people use it in a terminal, without Corral. */
interface Bare {
  agent: RealAgent
  /** Begins a conversation with this message; goes on with one. */
  begin(message: string): string[]
  goOn(id: string, message: string): string[]
  /** The message comes by stdin. */
  stdin?: boolean
  /** Where it keeps its conversations, in this environment. */
  store(env: NodeJS.ProcessEnv): string
}

const BARE: Bare[] = [
  {
    agent: claude,
    begin: (message) => [CLAUDE, '-p', message],
    goOn: (id, message) => [CLAUDE, '-p', '--resume', id, message],
    store: (env) => join(env['HOME']!, '.claude'),
  },
  {
    agent: codex,
    begin: (message) => [CODEX, 'exec', '--skip-git-repo-check', message],
    goOn: (id, message) => [CODEX, 'exec', 'resume', '--skip-git-repo-check', id, message],
    store: (env) => env['CODEX_HOME']!,
  },
  {
    agent: gemini,
    begin: (message) => [process.execPath, GEMINI, '-p', message],
    goOn: (id, message) => [process.execPath, GEMINI, '--resume', id, '-p', message],
    store: (env) => join(env['HOME']!, '.gemini'),
  },
  {
    agent: opencode,
    begin: () => [OPENCODE, 'run'],
    goOn: (id) => [OPENCODE, 'run', '-s', id],
    stdin: true,
    store: (env) => join(env['XDG_DATA_HOME']!, 'opencode'),
  },
]

type Conversation = Api['agents.conversations']['result']['conversations'][number]

for (const bare of BARE) {
  const { agent } = bare
  const { name } = agent.driver
  describe(
    `a conversation of ${name} that began in a terminal`,
    { skip: agent.absent, concurrency: false },
    () => {
      let at: AgentHome
      let daemon: TestDaemon
      let client: NativeClient
      let found: Conversation

      before(async () => {
        at = await agent.home()
        daemon = await startDaemon({ env: at.env })
        client = await connect(daemon.socket, { reconnect: true })
        await run(bare.begin('the word is tangerine'), 'the word is tangerine')
      })
      after(async () => {
        client?.close()
        await daemon?.stop()
        await at?.close()
      })

      function start([program, ...args]: string[], message: string): ChildProcess {
        const stdio = ['pipe', 'ignore', 'ignore'] as const
        const child = spawn(program!, args, { cwd: at.work, env: at.env, stdio: [...stdio] })
        child.stdin!.on('error', () => {})
        child.stdin!.end(bare.stdin ? message : '')
        return child
      }

      async function run(command: string[], message: string): Promise<void> {
        const code = await exitOf(start(command, message), () => `${name} ends`)
        assert.equal(code, 0)
      }

      const list = async (all = false): Promise<Conversation[]> =>
        (await client.call('agents.conversations', { agent: name, all })).conversations

      test('is listed, and the list leaves no trace in the store', async () => {
        const before = traces(bare.store(at.env))
        const listed = await list()
        assert.deepEqual(traces(bare.store(at.env)), before)
        assert.equal(listed.length, 1)
        found = listed[0]!
        assert.equal(found.opening, 'the word is tangerine')
        assert.deepEqual(
          [found.cwd, found.sessionId, found.known, found.holder],
          [at.work, null, false, null],
        )
        const shown = await corral(daemon.env, ['adopt'])
        assert.match(shown.stdout, new RegExp(`^${name} .*${found.id.slice(-8)}`, 'm'))
      })

      test('is refused while its own program has it open', async () => {
        at.model.troubles.push('silence', 'silence', 'silence')
        const asked = at.model.next()
        const child = start(bare.goOn(found.id, 'are you there'), 'are you there')
        const ended = exitOf(child, () => `${name} ends`)
        try {
          await arrival(asked, () => `${name} asks its model`)
          const [open] = await list()
          assert.deepEqual(open?.holder, { pid: child.pid, certain: true, endedBy: null })
          await assert.rejects(client.call('session.adopt', { agent: name, id: found.id, force: true }), {
            data: { code: 'conversation_busy', reason: 'open_elsewhere', pid: child.pid },
          })
          const refused = await corral(daemon.env, ['adopt', found.id, '--force'])
          assert.equal(refused.code, 1)
          assert.match(refused.stderr, /has this conversation open \(pid \d+\); end it there/)
        } finally {
          child.kill('SIGKILL')
          await ended
          at.model.troubles.length = 0
        }
        assert.equal((await list())[0]?.holder, null)
      })

      test('goes on in Corral, knows what was said, and shows it', async () => {
        const adopted = await corral(daemon.env, ['adopt', found.id.slice(-8), '--mode', 'auto', '--json'])
        assert.equal(adopted.code, 0, adopted.stderr)
        const { session } = adopted.json<{ session: { id: string; cwd: string; nativeId: string } }>()[0]!
        assert.deepEqual([session.cwd, session.nativeId], [at.work, found.id])
        const past = await corral(daemon.env, ['history', session.id])
        assert.match(past.stdout, /the word is tangerine[^]*echo: the word is tangerine/)

        const sent = await corral(daemon.env, ['send', session.id, 'say it again'])
        assert.equal(sent.code, 0, sent.stderr)
        assert.match(sent.stdout, /echo: [^]*say it again/)
        const asked = at.model.requests
          .map(({ body }) => JSON.stringify(body))
          .findLast((body) => body.includes('say it again'))
        assert.match(asked!, /the word is tangerine/)
        assert.equal((await client.call('session.get', { sessionId: session.id })).nativeId, found.id)

        assert.deepEqual(await list(), [])
        assert.deepEqual(
          (await list(true)).map(({ id, sessionId }) => [id, sessionId]),
          [[found.id, session.id]],
        )
        const again = await corral(daemon.env, ['adopt', found.id])
        assert.match(
          again.stderr,
          new RegExp(`it is session ${session.id.slice(-8)}; go on with: corral attach`),
        )
      })

      test('what Corral began itself is not listed, also when its session is gone', async () => {
        const cwd = daemon.project
        const { id: sessionId } = await client.call('session.create', { agent: name, mode: 'auto', cwd })
        const sent = await corral(daemon.env, ['send', sessionId, 'begun in Corral'])
        assert.equal(sent.code, 0, sent.stderr)
        assert.deepEqual(await list(), [])
        await client.call('session.destroy', { sessionId })
        assert.deepEqual(await list(), [])
        const all = await list(true)
        assert.ok(all.some((one) => one.opening === 'begun in Corral' && one.known && one.sessionId === null))
      })
    },
  )
}

/** What every file of a store is, to the byte, and when it was changed. */
function traces(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex')
      return [path, `${hash} ${lstatSync(path).mtimeMs}`]
    }),
  )
}
