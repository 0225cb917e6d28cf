import type { Engine } from '../core/api.ts'
import { type Family, renderMetrics, type Value } from './prometheus.ts'
import type { Sample } from './resources.ts'
import type { Tally } from './tally.ts'

export interface MetricsDeps {
  engine: Pick<Engine, 'sessions' | 'approvals' | 'events'>
  version: string
  startedAt: number
  tally: Tally
  /** The newest sample there is, at most a minute old; asking for metrics does not look at processes. */
  sample: () => Sample | null
  agents: () => { running: number; idle: number }
  now?: () => number
}

/** Everything there is to count, in the text format of Prometheus. */
export function corralMetrics(deps: MetricsDeps): string {
  return renderMetrics(ownFamilies(deps))
}

const counter = (name: string, help: string, values: readonly Value[]): Family => ({
  name: `${name}_total`,
  type: 'counter',
  help,
  values,
})

const gauge = (name: string, help: string, values: readonly Value[]): Family => ({
  name,
  type: 'gauge',
  help,
  values,
})

const one = (value: number): Value[] => [{ value }]
const by = (label: string, counts: Readonly<Record<string, number>>): Value[] =>
  Object.entries(counts).map(([key, value]) => ({ labels: { [label]: key }, value }))

function ownFamilies(deps: MetricsDeps): Family[] {
  const { engine, version, tally, agents } = deps
  const { running, idle } = agents()
  return [
    gauge('corral_build_info', 'Always 1; the version is the label.', [{ labels: { version }, value: 1 }]),
    gauge('corral_uptime_seconds', 'Time since the daemon started.', one(uptime(deps))),
    gauge('corral_sessions', 'Sessions by status.', by('status', engine.sessions.count())),
    gauge('corral_agents', 'Agent processes by what they do.', by('state', { running, warm: idle })),
    gauge('corral_approvals_open', 'Approvals that wait for an answer.', one(engine.approvals.count())),
    gauge('corral_log_head', 'Number of the newest event.', one(engine.events.head)),
    gauge('corral_log_oldest', 'Number of the oldest event that is kept.', one(engine.events.oldest)),
    counter('corral_sessions_created', 'Sessions made.', one(tally.sessionsCreated)),
    counter('corral_sessions_destroyed', 'Sessions removed.', one(tally.sessionsDestroyed)),
    counter('corral_messages', 'Messages by who sent them.', by('from', messagesOf(tally))),
    counter('corral_turns', 'Turns that are over, by how they ended.', by('outcome', tally.turns)),
    counter('corral_turn_retries', 'Turns that a second process was tried for.', one(tally.turnRetries)),
    counter('corral_tool_calls', 'Tool calls that agents have made.', one(tally.toolCalls)),
    counter('corral_approvals_asked', 'Approvals that a human was asked for.', one(tally.approvalsAsked)),
    counter('corral_approvals', 'Approvals by decision.', by('decision', tally.approvals)),
    counter('corral_agent_starts', 'Agent processes started.', one(tally.agentsStarted)),
    counter('corral_agent_exits', 'Agent processes ended.', by('kind', tally.agentsExited)),
    counter('corral_tokens', 'Tokens that agents report.', by('kind', tokensOf(tally))),
    counter('corral_cost_usd', 'Cost that agents report.', one(tally.usage.costUsd ?? 0)),
    ...memoryFamilies(deps.sample()),
  ]
}

const uptime = ({ startedAt, now = Date.now }: MetricsDeps): number =>
  Math.max(0, Math.floor((now() - startedAt) / 1000))

const messagesOf = ({ messagesSent, messagesReceived }: Tally) => ({
  user: messagesSent,
  agent: messagesReceived,
})

const tokensOf = ({ usage }: Tally) => ({
  input: usage.inputTokens,
  output: usage.outputTokens,
  cache_read: usage.cacheReadTokens,
  cache_write: usage.cacheWriteTokens,
})

/** Nothing is said as long as nothing is known: a zero would be taken for a number. */
function memoryFamilies(sample: Sample | null): Family[] {
  const daemon = { labels: { of: 'daemon' }, value: process.memoryUsage.rss() }
  const name = 'corral_memory_bytes'
  if (!sample) return [gauge(name, 'Memory in use.', [daemon])]
  const { totalBytes, usedBytes, agentsBytes, active, warm, cold } = sample
  return [
    gauge(name, 'Memory in use.', [daemon, ...by('of', { agents: agentsBytes, machine: usedBytes })]),
    gauge('corral_memory_limit_bytes', 'Memory that there is.', one(totalBytes)),
    gauge('corral_session_tiers', 'Sessions by tier.', by('tier', { active, warm, cold })),
  ]
}
