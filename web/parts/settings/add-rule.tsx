import { useEffect, useState } from 'preact/hooks'
import { client } from '../../state/connection.ts'
import { EXAMPLES, withRule, type RuleRow, type Verdict } from '../../state/rule-book.ts'
import { Segments, type Option } from '../choice.tsx'
import { Confirm } from '../confirm.tsx'
import { Field } from '../field.tsx'
import { RuleAdvice } from './rule-advice.tsx'

const VERDICTS: readonly Option<Verdict>[] = [
  { value: 'allow', label: 'Allow without asking' },
  { value: 'deny', label: 'Never' },
]

const PAUSE_MS = 300
const NO_RULES = { allow: [], deny: [] }

/** One more rule for a directory; what it cannot do is said before it is made. */
export function AddRule({ path: given, onClose }: { path: string; onClose(): void }) {
  const [path, setPath] = useState(given)
  const [row, setRow] = useState<RuleRow>({ verdict: 'allow', text: '' })
  const settled = useSettled(row.text.trim())
  async function add(): Promise<void> {
    const directory = path.trim()
    if (!directory.startsWith('/')) throw new Error('Give the whole path of the directory, from / on.')
    if (row.text.trim() === '') throw new Error('Write the rule first.')
    // Somebody may have changed the others meanwhile.
    const { directories } = await client().call('directory.list', {})
    const before = directories.find((one) => one.path === directory)?.rules ?? NO_RULES
    const patch = withRule(before, row)
    if (patch) await client().call('directory.configure', { path: directory, rules: patch })
  }
  return (
    <Confirm title="Add a rule" action="Add the rule" onConfirm={add} onClose={onClose}>
      <Text
        label="Directory"
        hint="The rule holds for every session in it and below, also for those that run."
        value={path}
        onChange={setPath}
      />
      <Segments
        label="What the rule does"
        options={VERDICTS}
        value={row.verdict}
        onChange={(verdict) => setRow({ ...row, verdict })}
      />
      <Text label="Rule" value={row.text} onChange={(text) => setRow({ ...row, text })} />
      {settled !== '' && <RuleAdvice rules={{ [row.verdict]: [settled] }} />}
      <Examples onChoose={setRow} />
    </Confirm>
  )
}

interface TextProps {
  label: string
  hint?: string
  value: string
  onChange(value: string): void
}

function Text({ label, hint, value, onChange }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(control) => (
        <input
          {...control}
          class="input mono"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={1000}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  )
}

function Examples({ onChoose }: { onChoose(row: RuleRow): void }) {
  return (
    <div class="small">
      <div class="muted">For example:</div>
      <ul>
        {EXAMPLES.map(({ row, means }) => (
          <li key={row.text}>
            <button type="button" class="rule-example" onClick={() => onChoose(row)}>
              <code>{row.text}</code> <span class="muted">{means}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The text, when nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
