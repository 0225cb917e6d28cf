import type { Api } from '../../client/client.ts'
import { withCommands } from '../../state/commands-in.ts'
import { plural } from '../../state/figures.ts'
import { Badge, type Tone } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Command } from '../command.tsx'
import { Failed } from '../failed.tsx'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { useCall } from '../use-call.ts'

type Check = Api['daemon.doctor']['result']['checks'][number]

const TONES: Readonly<Record<Check['status'], Tone>> = {
  ok: 'good',
  warn: 'needs',
  error: 'bad',
  skipped: 'plain',
}
const WORDS: Readonly<Record<Check['status'], string>> = {
  ok: 'well',
  warn: 'look at this',
  error: 'wrong',
  skipped: 'not there',
}
/** What needs doing first. */
const ORDER: readonly Check['status'][] = ['error', 'warn', 'ok', 'skipped']

/** Whether all is well, and what to do where it is not. */
export function DoctorSection() {
  const { data, problem, isLoading, reload } = useCall('daemon.doctor', {})
  const again = <Button icon="refresh-cw" label="Look again" busy={isLoading} onClick={reload} />
  return (
    <Section
      title="Doctor"
      about={data ? summaryOf(data.checks) : 'Looks at everything; changes nothing.'}
      actions={again}
    >
      {problem !== null && <Failed what="The doctor could not look" problem={problem} onRetry={reload} />}
      {data ? <Checks checks={data.checks} /> : problem === null && <Spinner label="Looking at everything" />}
    </Section>
  )
}

function summaryOf(checks: readonly Check[]): string {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length
  const [wrong, warned] = [count('error'), count('warn')]
  if (wrong === 0 && warned === 0) return `All is well: ${plural(count('ok'), 'check')}.`
  const parts = [wrong > 0 && plural(wrong, 'error'), warned > 0 && plural(warned, 'warning')].filter(Boolean)
  return `${parts.join(', ')}, ${plural(count('ok'), 'check')} well.`
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const wanting = sorted(checks.filter(({ status }) => status === 'error' || status === 'warn'))
  const rest = sorted(checks.filter(({ status }) => status === 'ok' || status === 'skipped'))
  return (
    <>
      {wanting.length > 0 && <CheckList checks={wanting} />}
      <details>
        <summary>
          {wanting.length > 0 ? `Everything else (${rest.length})` : `All checks (${rest.length})`}
        </summary>
        <CheckList checks={rest} />
      </details>
    </>
  )
}

function sorted(checks: readonly Check[]): Check[] {
  return checks.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
}

function CheckList({ checks }: { checks: readonly Check[] }) {
  return (
    <ul class="rows">
      {checks.map((check) => (
        <li key={check.name} class="check">
          <Badge tone={TONES[check.status]}>{WORDS[check.status]}</Badge>
          <div class="check-text">
            <div>
              <strong>{check.name.replaceAll('_', ' ')}</strong> {check.message}
            </div>
            {check.fix !== null && <Fix text={check.fix} />}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** What to do, in words, with the commands in it to be copied. */
export function Fix({ text }: { text: string }) {
  return (
    <div class="fix">
      {withCommands(text).map((piece, index) =>
        piece.isCommand ? <Command key={index} text={piece.text} /> : <span key={index}>{piece.text}</span>,
      )}
    </div>
  )
}
