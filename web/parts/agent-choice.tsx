import { useId } from 'preact/hooks'
import type { AgentReport } from '../state/agents.ts'
import { newSession } from '../state/new-session.ts'
import { Advice } from './advice.tsx'
import { Badge } from './badge.tsx'

/** Which agent; those that cannot be used say why, and what to do about it. */
export function AgentChoice({ agents, current }: { agents: readonly AgentReport[]; current: string }) {
  const id = useId()
  const there = agents.filter(({ installed }) => installed)
  const missing = agents.filter(({ installed }) => !installed)
  const chosen = there.find(({ name }) => name === current)
  return (
    <fieldset class="pick">
      <legend class="field-label">Agent</legend>
      <div class="pick-row">
        {there.map(({ name, title, signIn }) => (
          <label key={name} class="pick-pill">
            <input
              type="radio"
              name={id}
              checked={current === name}
              onChange={() => {
                newSession.agent.value = name
                newSession.model.value = null
                newSession.effort.value = null
              }}
            />
            <span>{name === 'demo' ? 'Demo' : title}</span>
            {signIn !== null && <Badge tone="needs">sign in</Badge>}
          </label>
        ))}
      </div>
      {chosen && chosen.signIn !== null && (
        <p class="field-hint">
          <Advice text={chosen.signIn} />
        </p>
      )}
      {chosen?.name === 'demo' && (
        <p class="field-hint">It has no model, and obeys a script in your message; other words it repeats.</p>
      )}
      {missing.length > 0 && (
        <details class="pick-missing">
          <summary>
            {missing.length} more {missing.length === 1 ? 'is' : 'are'} not installed
          </summary>
          <dl>
            {missing.map(({ name, title, problem }) => (
              <div key={name}>
                <dt>{title}</dt>
                <dd class="muted">{problem !== null && <Advice text={problem} />}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </fieldset>
  )
}
