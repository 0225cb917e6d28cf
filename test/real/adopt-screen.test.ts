import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import { CODEX, codexAbsent, scriptedCodex } from '../support/codex-env.ts'
import { startDaemon } from '../support/daemon.ts'
import { NO_PTY, onScreen, type TestScreen } from '../support/screen.ts'
import { until } from '../support/wait.ts'
import { marked } from './conformance/counts.ts'

test(
  'what Codex keeps open when its user has left its screen',
  { skip: codexAbsent || NO_PTY || false },
  async (t) => {
    const at = await scriptedCodex()
    const daemon = await startDaemon({ env: at.env })
    const client = await connect(daemon.socket)
    t.after(async () => {
      client.close()
      await daemon.stop()
      // Its own daemon has a process that outlives it.
      for (const { pid } of marked(`HOME=${at.env['HOME']}`)) process.kill(pid, 'SIGKILL')
      await at.close()
    })
    const codex = (...args: string[]): string[] => ['env', '-C', at.work, CODEX, ...args]
    const found = async () => (await client.call('agents.conversations', { agent: 'codex' })).conversations[0]

    const begun = onScreen(t, codex('exec', '--skip-git-repo-check', 'the word is tangerine'), {
      env: at.env,
    })
    assert.equal(await begun.exited, 0)
    const { id } = (await found())!

    const screen = onScreen(t, codex('resume', id), { env: at.env, columns: 120, rows: 40, answers: true })
    // It may praise a newer model first.
    const asks = (): boolean => screen.text().includes('Use existing model')
    await insist(screen, '\u001b', asks, () => screen.text().includes('echo: the word is tangerine'))
    await until(async () => (await found())?.holder?.certain, 'it has the conversation open')
    let isOver = false
    void screen.exited.then(() => (isOver = true))
    await insist(
      screen,
      '\u0003',
      () => true,
      () => isOver,
    )

    const refused = await corral(daemon.env, ['adopt', id])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /keeps this conversation open .*`codex app-server daemon stop` ends that/)
    const stopped = onScreen(t, codex('app-server', 'daemon', 'stop'), { env: at.env })
    assert.equal(await stopped.exited, 0)
    const adopted = await corral(daemon.env, ['adopt', id])
    assert.equal(adopted.code, 0, adopted.stderr)
    const sent = await corral(daemon.env, ['send', adopted.stdout.trim(), 'say it again'])
    assert.match(sent.stdout, /echo: say it again/)
    const asked = at.model.requests.map(({ body }) => JSON.stringify(body)).at(-1)
    assert.match(asked!, /the word is tangerine/)
  },
)

/** It throws away what was typed while it was getting ready: the key is pressed again, now and then, as long as that is called for. */
async function insist(
  screen: TestScreen,
  key: string,
  isWanted: () => boolean,
  isDone: () => boolean,
): Promise<void> {
  let pressed = 0
  await until(
    () => {
      if (isDone()) return true
      if (isWanted() && performance.now() - pressed > 1000) {
        pressed = performance.now()
        screen.type(key)
      }
      return false
    },
    () => `the key is heard: ${screen.text()}`,
  )
}
