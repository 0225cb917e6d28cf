import { custom, type CustomAgent } from './acp/custom.ts'
import { acpDriver } from './acp/driver.ts'
import { gemini } from './acp/gemini.ts'
import { opencode } from './acp/opencode.ts'
import type { AgentDriver } from './agent.ts'
import { claudeDriver } from './claude/driver.ts'
import { codexDriver } from './codex/driver.ts'
import { demoDriver } from './demo/driver.ts'

/** The agents that come with Corral. */
export const DRIVERS: readonly AgentDriver[] = [
  claudeDriver,
  codexDriver,
  acpDriver(gemini),
  acpDriver(opencode),
  demoDriver,
]

/** Those, and the user's own. */
export function driversWith(own: Readonly<Record<string, CustomAgent>>): AgentDriver[] {
  return [...DRIVERS, ...Object.entries(own).map(([name, agent]) => acpDriver(custom(name, agent)))]
}
