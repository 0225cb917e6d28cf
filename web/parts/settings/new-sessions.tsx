import { useAgents } from '../../state/agents.ts'
import { MODE_WORDS, MODES_IN_ORDER } from '../../state/modes.ts'
import { newSession } from '../../state/new-session.ts'
import { Field } from '../field.tsx'
import { Section } from '../section.tsx'

/** What the dialog for a new session begins with. */
export function NewSessionsSection() {
  const { agents } = useAgents()
  const { agent, mode } = newSession
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
              <option value="">The first that can be used</option>
              {installed.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Mode" hint={MODE_WORDS[mode.value].means}>
          {(control) => (
            <select
              {...control}
              class="input"
              value={mode.value}
              onChange={({ currentTarget }) => (mode.value = MODES_IN_ORDER[currentTarget.selectedIndex]!)}
            >
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
