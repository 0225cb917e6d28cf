import type { AgentReport } from '../agents/report.ts'
import { type Check, checksOf } from './check.ts'

const { ok, skipped, warn, error } = checksOf('agents')

/** The agent that is always there has no model behind it. */
const BUILT_IN = 'demo'

/** `wanted`: agents that the user has put into the configuration, and would miss. */
export function judgeAgents(reports: readonly AgentReport[], wanted: readonly string[]): Check[] {
  const usable = reports.some(({ name, installed }) => installed && name !== BUILT_IN)
  const fix = 'install one of those above (docs/agents.md), and make sure that it is on the PATH'
  return [
    ...reports.map((report) => judgeAgent(report, wanted)),
    ...(usable ? [] : [error('agents', `no agent but ${BUILT_IN} can be used`, fix)]),
  ]
}

function judgeAgent(report: AgentReport, wanted: readonly string[]): Check {
  const { name, title, installed, path, version, problem, signedIn, signIn } = report
  const check = `agent_${name}`
  if (!installed) {
    const what = problem ?? `${title} is not installed`
    // What was never put there is nothing to warn of; what is there and does not run is.
    if (path === null && !wanted.includes(name)) return skipped(check, what)
    return warn(check, what, 'put it in order, or take it out of the configuration or the PATH')
  }
  if (name === BUILT_IN) return ok(check, 'built in, for trying things out')
  const about = (access: string): string => [version, access, path].filter((part) => part !== null).join(', ')
  if (signedIn === false) return warn(check, about('nobody has signed in'), signIn ?? `sign in to ${title}`)
  return ok(check, about(signedIn ? 'signed in' : 'whether somebody has signed in cannot be told'))
}
