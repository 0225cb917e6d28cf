import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { custom, type CustomAgent } from '../../src/agents/acp/custom.ts'
import { acpDriver } from '../../src/agents/acp/driver.ts'
import type { AgentDriver } from '../../src/agents/agent.ts'
import type { HostOptions } from '../../src/agents/host/deps.ts'
import type { CreateSession } from '../../src/core/command.ts'
import type { Event } from '../../src/core/event.ts'
import { startEngine, type TestEngine } from './engine.ts'

const AGENT = join(import.meta.dirname, 'acp-agent.ts')

/** The agent of `acp-agent.ts`, as a user would configure it. */
export function scripted(args: string[] = [], more: Partial<CustomAgent> = {}): AgentDriver {
  return acpDriver(
    custom('mine', { command: process.execPath, args: [AGENT, ...args], title: 'My agent', ...more }),
  )
}

/** A home whose daemon knows that agent as `mine`. */
export function homeWithAgent(): string {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  const agents = { mine: { command: process.execPath, args: [AGENT], title: 'My agent' } }
  mkdirSync(join(home, '.corral'))
  writeFileSync(join(home, '.corral', 'config.yaml'), JSON.stringify({ agents }))
  return home
}

export async function engineWith(
  t: TestContext,
  args: string[] = [],
  options: Partial<HostOptions> = {},
  more: Partial<CustomAgent> = {},
): Promise<TestEngine> {
  const engine = await startEngine({ drivers: [scripted(args, more)], options })
  t.after(() => engine.stop())
  return engine
}

export async function sessionOf(t: TestEngine, given: Partial<CreateSession> = {}): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'mine', cwd: t.cwd, mode: 'auto', ...given })).id
}

/** What was said in a turn, or why it failed. */
export function saidIn(events: Event[]): string {
  const failed = events.find((event) => event.type === 'turn.failed')
  if (failed) return `failed: ${failed.error.code}: ${failed.error.message}`
  return events.flatMap((event) => (event.type === 'message.completed' ? [event.text] : [])).join(' | ')
}

export async function say(t: TestEngine, sessionId: string, wanted: unknown): Promise<string> {
  return saidIn(await t.turn(sessionId, JSON.stringify(wanted)))
}
