import { useState } from 'preact/hooks'
import { type AgentReport, useAgents } from '../state/agents.ts'
import { overlay } from '../state/overlay.ts'
import { Advice } from './advice.tsx'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { newSession } from '../state/new-session.ts'

/** The agents of this machine: which can be used, and what is missing for the others. */
export function AgentsGuide() {
  const { agents, problem, again } = useAgents()
  const [looking, setLooking] = useState(false)
  const real = agents?.filter(({ name }) => name !== 'demo') ?? null
  return (
    <section class="agents-guide" aria-label="Agents on this machine">
      <div class="agents-head">
        <h2>Your agents</h2>
        <Button
          kind="quiet"
          icon="refresh-cw"
          label="Look again"
          busy={looking}
          onClick={() => {
            setLooking(true)
            void again().finally(() => setLooking(false))
          }}
        />
      </div>
      {problem !== null && <p class="field-error">{problem}</p>}
      {real === null && problem === null && <div class="skeleton agents-skeleton" />}
      {real !== null && (
        <ul class="agents-list">
          {real.map((agent) => (
            <AgentLine key={agent.name} agent={agent} />
          ))}
        </ul>
      )}
    </section>
  )
}

function AgentLine({ agent }: { agent: AgentReport }) {
  const { name, title, installed, version, problem, signIn } = agent
  const isReady = installed && signIn === null
  const advice = installed ? signIn : problem
  return (
    <li class="agent-line">
      <Icon name={isReady ? 'circle-check' : 'bot'} />
      <div class="agent-text">
        <div>
          <strong>{title}</strong>
          {version !== null && <span class="muted small"> {version}</span>}{' '}
          {!installed && <Badge>not installed</Badge>}
          {installed && signIn !== null && <Badge tone="needs">not signed in</Badge>}
          {isReady && <Badge tone="good">ready</Badge>}
        </div>
        {advice !== null && (
          <p class="muted">
            <Advice text={advice} />
          </p>
        )}
      </div>
      {isReady && (
        <Button
          label="Use it"
          onClick={() => {
            newSession.agent.value = name
            overlay.value = 'new'
          }}
        />
      )}
    </li>
  )
}
