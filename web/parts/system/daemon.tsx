import { useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { client } from '../../state/connection.ts'
import { bytes, count } from '../../state/figures.ts'
import { mayManage } from '../../state/may-manage.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Segments, Switch, type Option } from '../choice.tsx'
import { Confirm } from '../confirm.tsx'
import { Command, Copy } from '../command.tsx'
import { Failed } from '../failed.tsx'
import { elapsed } from '../relative.ts'
import { Facts, Section } from '../section.tsx'
import { toast } from '../toast.tsx'
import { useCall } from '../use-call.ts'

type Status = Api['daemon.status']['result']
type Agents = 'end' | 'keep'

const EVERY_MS = 10_000

/** The daemon itself: where it listens, and how it is stopped. */
export function DaemonSection() {
  const { data, problem, reload } = useCall('daemon.status', {}, { everyMs: EVERY_MS })
  const [isStopping, setStopping] = useState(false)
  const stop = mayManage.value && (
    <Button kind="danger" icon="square" label="Stop the daemon" onClick={() => setStopping(true)} />
  )
  return (
    <Section title="Daemon" actions={stop}>
      {problem !== null && <Failed what="The daemon does not answer" problem={problem} onRetry={reload} />}
      {data && <About status={data} />}
      {isStopping && <StopDialog running={data?.agents.running ?? 0} onClose={() => setStopping(false)} />}
    </Section>
  )
}

function About({ status }: { status: Status }) {
  const { sessions, agents, log, memory } = status
  const door = status.listeners.find(({ name }) => name === 'corral')?.address
  const metrics = `curl -H "Authorization: Bearer $(corral token show)" ${door}/metrics`
  return (
    <Facts
      rows={[
        ['Version', <span class="numbers">{status.version}</span>],
        status.name === null ? null : ['Name', status.name],
        [
          'Runs for',
          <span class="numbers">
            {elapsed(status.uptimeMs)}, process {status.pid}
          </span>,
        ],
        ['Memory', `${bytes(memory.rss)}, of that ${bytes(memory.heapUsed)} in the heap`],
        [
          'Sessions',
          `${sessions.running} running, ${sessions.waiting} waiting, ${sessions.idle} idle, ${sessions.paused} paused`,
        ],
        ['Agents', `${agents.running} at work, ${agents.idle} idle; at most ${agents.maxWarm} are kept`],
        ['Log', `${count(log.head)} events`],
        ['Listeners', <Listeners listeners={status.listeners} />],
        door === undefined ? null : ['Metrics', <Command text={metrics} />],
        ['Restart', <Command text="corral restart" />],
      ]}
    />
  )
}

function Listeners({ listeners }: { listeners: Status['listeners'] }) {
  return (
    <ul>
      {listeners.map(({ name, address }) => (
        <li key={name} class="listener">
          <Badge>{name}</Badge>
          <code class="small">{address}</code>
          <Copy text={address} label={`Copy the address of ${name}`} />
        </li>
      ))}
    </ul>
  )
}

const AGENTS: readonly Option<Agents>[] = [
  { value: 'keep', label: 'Agents run on' },
  { value: 'end', label: 'Agents end, too' },
]

function StopDialog({ running, onClose }: { running: number; onClose(): void }) {
  const [agents, setAgents] = useState<Agents>('keep')
  const [now, setNow] = useState(false)
  async function stop(): Promise<void> {
    await client().call('daemon.stop', { agents, now })
    toast('The daemon stops. This page comes back when it is started again.')
  }
  return (
    <Confirm title="Stop the daemon?" action="Stop the daemon" danger onConfirm={stop} onClose={onClose}>
      <p>
        This page, the command line and every other client lose it until somebody on that computer starts it
        again. From here it cannot be started.
      </p>
      <Segments label="What becomes of agents" options={AGENTS} value={agents} onChange={setAgents} />
      <p class="muted small">
        {agents === 'keep'
          ? 'Agents at work go on without it for a while, and the next daemon takes them up: nothing is lost.'
          : 'Turns that run get a moment to end, then they are interrupted.'}
        {running > 0 && ` ${running} at work now.`}
      </p>
      {agents === 'end' && running > 0 && (
        <Switch label="Do not wait for turns that run" checked={now} onChange={setNow} />
      )}
      <p>To start it again:</p>
      <Command text="corral start --detach" />
    </Confirm>
  )
}
