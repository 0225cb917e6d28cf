import type { Api } from '../../client/client.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { useCall } from '../use-call.ts'
import { Fix } from './doctor.tsx'

type Agent = Api['agents.list']['result']['agents'][number]

/** The agents that Corral can drive, and how to get them. */
export function AgentsSection() {
  const { data, problem, isLoading, reload } = useCall('agents.list', {})
  const again = <Button icon="refresh-cw" label="Look again" busy={isLoading} onClick={reload} />
  return (
    <Section
      title="Agents"
      about="What is installed on this computer, and how to install and sign in."
      actions={again}
    >
      {problem !== null && (
        <Failed what="The agents could not be listed" problem={problem} onRetry={reload} />
      )}
      {data ? (
        <ul class="rows">
          {sorted(data.agents).map((agent) => (
            <li key={agent.name}>
              <AgentRow agent={agent} />
            </li>
          ))}
        </ul>
      ) : (
        problem === null && <Spinner label="Looking for agents" />
      )}
    </Section>
  )
}

/** Those that can be used come first. */
function sorted(agents: readonly Agent[]): Agent[] {
  return agents.toSorted((a, b) => Number(b.installed) - Number(a.installed))
}

function AgentRow({ agent }: { agent: Agent }) {
  const { title, name, installed, version, path, problem, signIn } = agent
  return (
    <div class="stack-small">
      <div class="along">
        <strong>{title}</strong>
        <span class="muted small mono">{name}</span>
        <State agent={agent} />
        {version !== null && <span class="muted small numbers">{version}</span>}
      </div>
      {installed && path !== null && <div class="muted small mono">{path}</div>}
      {!installed && problem !== null && <Fix text={problem} />}
      {installed && signIn !== null && <Fix text={signIn} />}
    </div>
  )
}

function State({ agent: { installed, signedIn, name } }: { agent: Agent }) {
  if (!installed) return <Badge>not installed</Badge>
  if (name === 'demo') return <Badge tone="good">built in</Badge>
  if (signedIn === false) return <Badge tone="needs">nobody has signed in</Badge>
  return signedIn ? <Badge tone="good">signed in</Badge> : <Badge>installed</Badge>
}
