import { useEffect } from 'preact/hooks'
import { isMode } from '../../../src/core/mode.ts'
import { useAgents } from '../../state/agents.ts'
import { MODE_WORDS, MODES_IN_ORDER } from '../../state/modes.ts'
import { askForDefaults, modeOfNew, newSession } from '../../state/new-session.ts'
import { Field } from '../field.tsx'
import { Section } from '../section.tsx'

/** What the dialog for a new session begins with. */
export function NewSessionsSection() {
  const { agents } = useAgents()
  const { agent, mode } = newSession
  useEffect(() => void askForDefaults().catch(() => {}), []) // `ask` is a safe guess
  const installed = agents?.filter((one) => one.installed) ?? []
  return (
    <Section title="New sessions" about="What a new session begins with, in this browser." id="new-sessions">
      <div class="settings-fields">
        <Field label="Agent">
          {(control) => (
            <select
              {...control}
              class="input"
              value={agent.value}
              onChange={({ currentTarget }) => (agent.value = currentTarget.value)}
            >
              <option value="">As Corral is set up</option>
              {installed.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Mode" hint={MODE_WORDS[modeOfNew.value].means}>
          {(control) => (
            <select
              {...control}
              class="input"
              value={mode.value ?? ''}
              onChange={({ currentTarget: { value } }) => (mode.value = isMode(value) ? value : null)}
            >
              <option value="">As Corral is set up</option>
              {MODES_IN_ORDER.map((one) => (
                <option key={one} value={one}>
                  {MODE_WORDS[one].name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </Section>
  )
}
