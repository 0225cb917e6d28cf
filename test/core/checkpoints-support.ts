import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CheckpointView } from '../../src/core/api.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'
import { goOn, HELD } from '../support/held.ts'
import { checkoutAt, type Checkout } from '../workspace/support.ts'

export const ENV = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** An engine whose project is a repository. */
export async function started(
  context: TestContext,
  options: TestEngineOptions = {},
): Promise<{ t: TestEngine; repo: Checkout; next: () => Promise<TestEngine> }> {
  let t = await startEngine({ checkpoints: true, ...options, env: { ...ENV, ...options.env } })
  context.after(() => t.stop())
  const repo = checkoutAt(t.cwd, { PATH: process.env['PATH'], HOME: t.home, ...ENV })
  if (!existsSync(join(t.cwd, '.git'))) {
    repo.git('init', '-q', '-b', 'main')
    repo.write('a.txt', 'one\n')
    repo.commit('first')
  }
  return {
    t,
    repo,
    async next() {
      await t.abandon()
      t = await startEngine({ checkpoints: true, env: ENV, home: t.home })
      return t
    },
  }
}

export async function newSession(t: TestEngine, cwd = t.cwd): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd })).id
}

/** A turn during which the agent does this to the files. */
export async function turnThat(t: TestEngine, sessionId: string, work: () => void): Promise<string> {
  const { turnId, seq } = await t.engine.turns.send({ sessionId, input: [{ type: 'text', text: HELD }] })
  await t.event('approval.requested', { sessionId, after: seq })
  work()
  await goOn(t, sessionId)
  await t.event('turn.completed', { sessionId, after: seq })
  // What it has left is written down by then.
  await t.engine.checkpoints.list(sessionId)
  return turnId
}

export async function listed(t: TestEngine, sessionId: string): Promise<CheckpointView[]> {
  return (await t.engine.checkpoints.list(sessionId)).checkpoints
}

export function read(repo: Checkout, file = 'a.txt'): string {
  return readFileSync(join(repo.path, file), 'utf8')
}
