import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalView } from '../../src/dialects/native/wire.ts'
import {
  answersOf,
  awaitedAnswers,
  editableOf,
  type Answer,
  type ApprovalContext,
  type DecideParams,
} from '../state/answers.ts'
import { defer } from '../state/approval-actions.ts'
import { contextOf, decide, mayRule } from '../state/deciding.ts'
import { laterThan } from '../state/snooze.ts'
import { Button } from './button.tsx'
import { EditForm, QuestionForm, RefuseForm } from './decision-forms.tsx'
import { Diff } from './diff.tsx'
import { Icon } from './icon.tsx'
import { inert, inertLine } from './inert.ts'
import { Markdown } from './markdown/markdown.tsx'
import { useSwipe } from './swipe.ts'
import { toolWords } from './tool.ts'
import { useSoon } from './use-soon.ts'

/** As much of an approval as a card needs; `ApprovalView` has more. */
export type AskedApproval = Pick<
  ApprovalView,
  'id' | 'kind' | 'tool' | 'input' | 'about' | 'summary' | 'external' | 'timeoutAt'
>

export interface DecisionCardProps {
  approval: AskedApproval
  /** If it is known already; the card asks for it otherwise. */
  context?: ApprovalContext | null | undefined
  /** What a finger moves aside, where that is more than the card. */
  swiped?: RefObject<HTMLElement | null>
  /** It is decided, here. */
  onDecided?(): void
}

type Doing = 'choosing' | 'editing' | 'refusing'

/** An open decision: what is wanted, what each answer means, and the answers. Who asks, and why, is told around it. */
export function DecisionCard({ approval, context: given, swiped, onDecided }: DecisionCardProps) {
  const context = useContext(approval.id, given)
  const [doing, setDoing] = useState<Doing>('choosing')
  const [sending, setSending] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)

  async function send(name: string, params: DecideParams): Promise<void> {
    if (sending !== null) return
    setSending(name)
    setProblem(null)
    const wrong = await decide(params)
    setSending(null)
    setProblem(wrong)
    if (wrong === null) onDecided?.()
  }

  const root = useRef<HTMLElement>(null)
  const soon = useSoon(() => void send('once', answersOf(approval, null, false)[0]!.params))
  const isFree = doing === 'choosing' && sending === null && !soon.isDue
  useSwipe(swiped ?? root, {
    right: isFree && approval.kind === 'tool' ? soon.begin : null,
    left: isFree ? () => defer(approval, laterThan(Date.now())[0]!.at) : null,
  })

  const form = { approval, sending, send, onCancel: () => setDoing('choosing') }
  return (
    <section
      ref={root}
      class="decision"
      aria-label={titleOf(approval)}
      data-approval={approval.id}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || doing === 'choosing') return
        event.stopPropagation()
        setDoing('choosing')
      }}
    >
      <Head approval={approval} />
      {(doing !== 'editing' || approval.about.class === 'edit') && (
        <What approval={approval} context={context} />
      )}
      {doing === 'editing' && <EditForm {...form} />}
      {doing === 'refusing' && <RefuseForm {...form} />}
      {doing === 'choosing' && approval.kind === 'question' && <QuestionForm {...form} />}
      {soon.isDue && <InAMoment undo={soon.undo} />}
      {doing === 'choosing' && approval.kind !== 'question' && !soon.isDue && (
        <Choices approval={approval} context={context} sending={sending} send={send} setDoing={setDoing} />
      )}
      {problem !== null && (
        <p class="decision-problem" role="alert">
          <Icon name="circle-alert" />
          {problem}
        </p>
      )}
    </section>
  )
}

function InAMoment({ undo }: { undo(): void }) {
  return (
    <p class="decision-soon" role="status">
      <Icon name="check" />
      Allowed once, in a moment
      <Button kind="plain" icon="undo-2" label="Undo" onClick={undo} />
    </p>
  )
}

function useContext(id: string, given: ApprovalContext | null | undefined): ApprovalContext | null {
  const [found, setFound] = useState<ApprovalContext | null>(null)
  useEffect(() => {
    if (given) return
    let wanted = true
    void contextOf(id).then((context) => wanted && setFound(context))
    return () => void (wanted = false)
  }, [id, given])
  return given ?? found
}

const WANTS = { tool: 'Wants to use', question: 'Asks you', plan: 'Has a plan' } as const
const WANTS_TO: Readonly<Record<string, string>> = {
  shell: 'Wants to run a command',
  edit: 'Wants to change files',
  read: 'Wants to read',
  fetch: 'Wants to fetch',
  search: 'Wants to search',
}

export function titleOf({ kind, tool, about }: AskedApproval): string {
  if (kind !== 'tool') return WANTS[kind]
  return WANTS_TO[about.class] ?? `${WANTS.tool} ${inertLine(tool)}`
}

function Head({ approval }: { approval: AskedApproval }) {
  const { icon } = toolWords(approval, '')
  return (
    <header class="decision-head">
      <Icon
        name={approval.kind === 'tool' ? icon : approval.kind === 'plan' ? 'list' : 'circle-question-mark'}
      />
      <strong>{titleOf(approval)}</strong>
      {approval.timeoutAt !== null && (
        <span class="muted">
          refused at {new Date(approval.timeoutAt).toLocaleTimeString()} if nobody answers
        </span>
      )}
    </header>
  )
}

const MAX_INPUT = 4000

/** The command, the change, the plan: all that is to be decided about. */
function What({ approval, context }: { approval: AskedApproval; context: ApprovalContext | null }) {
  const { kind, about, input, summary } = approval
  const [command] = about.class === 'shell' ? about.subjects : []
  if (kind === 'question') return null
  if (kind === 'plan') return <Markdown text={planOf(input) ?? summary ?? ''} />
  if (context?.files) return <Diff files={context.files} />
  if (command !== undefined) return <pre class="decision-command">{inert(command)}</pre>
  const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2)
  const cut = (text ?? '').length > MAX_INPUT
  return (
    <>
      {summary !== null && <p>{inert(summary)}</p>}
      <pre class="decision-command">
        {inert((text ?? '').slice(0, MAX_INPUT))}
        {cut && '…'}
      </pre>
    </>
  )
}

function planOf(input: unknown): string | null {
  const plan = (input as { plan?: unknown } | null)?.plan
  return typeof plan === 'string' ? plan : null
}

/** The same answer has the same number on every card. */
const NUMBERS: Readonly<Record<Answer['id'], number | undefined>> = {
  once: 1,
  session: 2,
  directory: 3,
  refuse: undefined,
}

interface ChoicesProps {
  approval: AskedApproval
  context: ApprovalContext | null
  sending: string | null
  send(name: string, params: DecideParams): Promise<void>
  setDoing(doing: Doing): void
}

function Choices({ approval, context, sending, send, setDoing }: ChoicesProps) {
  const answers = answersOf(approval, context, mayRule())
  const awaited = context ? [] : awaitedAnswers(approval, mayRule())
  const lasting = answers.filter(({ rules }) => rules.length > 0)
  const button = (answer: Answer) => (
    <Button
      key={answer.id}
      kind={kindOf(answer)}
      answer={NUMBERS[answer.id]}
      label={answer.label}
      busy={sending === answer.id}
      onClick={() => void send(answer.id, answer.params)}
    />
  )
  return (
    <>
      <div class="decision-answers">
        {answers.slice(0, -1).map(button)}
        {awaited.map(({ id, label }) => (
          <Button key={id} answer={NUMBERS[id]} label={label} disabled />
        ))}
        {answers.slice(-1).map(button)}
        <span class="decision-more">
          <Button kind="quiet" answer={4} label="Refuse with words…" onClick={() => setDoing('refusing')} />
          {editableOf(approval) && (
            <Button kind="quiet" answer={5} icon="pencil" label="Edit…" onClick={() => setDoing('editing')} />
          )}
        </span>
      </div>
      {lasting.length > 0 && (
        <dl class="decision-effects">
          {lasting.map((answer) => (
            <Effect key={answer.id} answer={answer} />
          ))}
        </dl>
      )}
    </>
  )
}

function kindOf({ id }: Answer): 'primary' | 'danger' | 'plain' {
  return id === 'once' ? 'primary' : id === 'refuse' ? 'danger' : 'plain'
}

function Effect({ answer: { label, effect, rules } }: { answer: Answer }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {inert(effect)}
        {rules.map((rule) => (
          <code key={rule}>{inert(rule)}</code>
        ))}
      </dd>
    </>
  )
}
