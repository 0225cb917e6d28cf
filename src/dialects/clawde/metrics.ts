const COUNTERS = {
  sessions_created: 'Sessions created by ClawDE clients',
  messages_sent: 'Messages sent by ClawDE clients',
  tool_calls_approved: 'Tool calls that ClawDE clients approved',
  tool_calls_rejected: 'Tool calls that ClawDE clients rejected',
  ipc_rate_limit_hits: 'Requests and connections refused for coming too fast',
  rpc_requests: 'Requests of ClawDE clients',
} as const

export type Counter = keyof typeof COUNTERS

export interface Metrics {
  count(counter: Counter): void
  /** In Prometheus' text format. */
  text(now: { uptimeSecs: number; activeSessions: number }): string
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createMetrics(): Metrics {
  const counts = Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0])) as Record<Counter, number>
  return {
    count: (counter) => void (counts[counter] += 1),
    text({ uptimeSecs, activeSessions }) {
      const counters = Object.entries(COUNTERS).map(([name, help]) =>
        metric(`${name}_total`, 'counter', help, counts[name as Counter]),
      )
      return [
        metric('uptime_seconds', 'gauge', 'Seconds since the start', uptimeSecs),
        metric(
          'active_sessions',
          'gauge',
          'Sessions that are at work, wait for a human or are paused',
          activeSessions,
        ),
        ...counters,
      ].join('')
    },
  }
}

function metric(name: string, type: string, help: string, value: number): string {
  return `# HELP clawd_${name} ${help}\n# TYPE clawd_${name} ${type}\nclawd_${name} ${value}\n`
}
