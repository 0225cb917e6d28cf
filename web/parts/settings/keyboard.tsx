import { KeyTable } from '../key-help.tsx'
import { Section } from '../section.tsx'

/** Every key of the dashboard. */
export function KeyboardSection() {
  return (
    <Section title="Keyboard" about="The question mark shows this from anywhere." id="keyboard">
      <KeyTable />
    </Section>
  )
}
