import { useState } from 'preact/hooks'
import { client } from '../../state/connection.ts'
import { mayManage } from '../../state/may-manage.ts'
import { ruleRows, withoutRule, withRules, type Directory, type RuleRow } from '../../state/rule-book.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Switch } from '../choice.tsx'
import { Failed } from '../failed.tsx'
import { inertLine } from '../inert.ts'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { toast } from '../toast.tsx'
import { problemOf, useCall } from '../use-call.ts'
import { useEvents } from '../use-events.ts'
import { AddRule } from './add-rule.tsx'
import { RuleAdvice } from './rule-advice.tsx'
import { RulesExplained } from './rules-explained.tsx'

const CHANGED = ['directory.changed'] as const

/** What agents may do without asking, by directory. */
export function RulesSection() {
  const { data, problem, reload } = useCall('directory.list', {})
  const [adding, setAdding] = useState<string | null>(null)
  useEvents({ types: CHANGED }, reload)
  const directories = withRules(data?.directories ?? [], Date.now())
  const add = mayManage.value && <Button icon="plus" label="Add a rule" onClick={() => setAdding('')} />
  return (
    <Section
      title="Rules"
      about="What agents may do without asking, and what they may never do: in a directory and everything below it."
      actions={add}
      id="rules"
    >
      {problem !== null && <Failed what="The rules could not be read" problem={problem} onRetry={reload} />}
      {!data && problem === null && <Spinner label="Loading" />}
      {data && directories.length === 0 && (
        <p class="muted">No directory has rules. “Allow for this project” on a decision makes one, too.</p>
      )}
      {directories.map((directory) => (
        <DirectoryRules key={directory.path} directory={directory} onAdd={() => setAdding(directory.path)} />
      ))}
      <RulesExplained />
      {adding !== null && <AddRule path={adding} onClose={() => setAdding(null)} />}
    </Section>
  )
}

async function configure(path: string, rules: Parameters<typeof change>[1]): Promise<void> {
  await change(path, rules).catch((error: unknown) => toast(problemOf(error), { tone: 'bad' }))
}

function change(path: string, rules: Partial<Directory['rules']>) {
  return client().call('directory.configure', { path, rules })
}

function DirectoryRules({ directory, onAdd }: { directory: Directory; onAdd(): void }) {
  const { path, rules } = directory
  const mayChange = mayManage.value
  return (
    <div class="rules" role="group" aria-label={path}>
      <div class="along">
        <strong class="mono along-main">{inertLine(path)}</strong>
        {mayChange && (
          <Button kind="quiet" icon="plus" iconOnly label={`Add a rule for ${path}`} onClick={onAdd} />
        )}
      </div>
      <ul class="rows">
        {ruleRows(rules).map((row) => (
          <li key={`${row.verdict} ${row.text}`} class="along">
            <Verdict row={row} />
            <code class="along-main">{inertLine(row.text)}</code>
            {mayChange && (
              <Button
                kind="quiet"
                icon="trash-2"
                iconOnly
                label={`Remove the rule ${row.text}`}
                onClick={() => void configure(path, withoutRule(rules, row) as Partial<Directory['rules']>)}
              />
            )}
          </li>
        ))}
      </ul>
      <Switch
        label="Edits of files pass without a question"
        checked={rules.acceptEdits}
        disabled={!mayChange}
        onChange={(acceptEdits) => void configure(path, { acceptEdits })}
      />
      {rules.skipUntil !== null && rules.skipUntil > Date.now() && (
        <div class="along">
          <Badge tone="bad">everything passes</Badge>
          {mayChange && (
            <Button label="Ask again" onClick={() => void configure(path, { skipUntil: null })} />
          )}
        </div>
      )}
      <RuleAdvice rules={rules} />
    </div>
  )
}

function Verdict({ row: { verdict } }: { row: RuleRow }) {
  return verdict === 'allow' ? <Badge tone="good">allow</Badge> : <Badge tone="bad">never</Badge>
}
