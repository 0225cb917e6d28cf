import { useRef, useState } from 'preact/hooks'
import {
  allowWith,
  answersFor,
  editableOf,
  questionsOf,
  refusal,
  replies,
  reply,
  type DecideParams,
  type Question,
} from '../state/answers.ts'
import { Button } from './button.tsx'
import type { AskedApproval } from './decision.tsx'
import { Field } from './field.tsx'
import { inert, inertLine } from './inert.ts'

interface FormProps {
  approval: AskedApproval
  sending: string | null
  send(name: string, params: DecideParams): Promise<void>
  onCancel(): void
}

/** The command, or the whole input, to be changed before it is allowed. */
export function EditForm({ approval, sending, send, onCancel }: FormProps) {
  const editable = editableOf(approval)
  const [text, setText] = useState(editable?.text ?? '')
  const [wrong, setWrong] = useState<string | null>(null)

  function allow(): void {
    try {
      void send('edit', allowWith(approval.id, editable!.read(text)))
    } catch (error) {
      setWrong(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  return (
    <form class="decision-form" onSubmit={stop(allow)} onKeyDown={submitOnKey}>
      <Field label={editable?.label ?? ''} error={wrong}>
        {(control) => (
          <textarea
            {...control}
            ref={focus}
            class="input mono"
            rows={Math.min(12, text.split('\n').length + 1)}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="decision-answers">
        <Button kind="primary" type="submit" label="Allow this" busy={sending === 'edit'} />
        <Button kind="quiet" label="Cancel" onClick={onCancel} />
      </div>
    </form>
  )
}

/** No, and why: the agent hears it, if it can. */
export function RefuseForm({ approval, sending, send, onCancel }: FormProps) {
  const [text, setText] = useState('')
  const isPlan = approval.kind === 'plan'
  const refuse = (): void => void send('refuse', refusal(approval.id, text.trim()))
  return (
    <form class="decision-form" onSubmit={stop(refuse)} onKeyDown={submitOnKey}>
      <Field label={isPlan ? 'What should be different?' : 'What should it do instead?'}>
        {(control) => (
          <textarea
            {...control}
            ref={focus}
            class="input"
            rows={2}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="decision-answers">
        <Button
          kind="danger"
          type="submit"
          label={isPlan ? 'Keep planning' : 'Refuse'}
          busy={sending === 'refuse'}
        />
        <Button kind="quiet" label="Cancel" onClick={onCancel} />
      </div>
    </form>
  )
}

/** The agent's questions, with what it offers and room for other words. */
export function QuestionForm({ approval, sending, send }: FormProps) {
  const questions = questionsOf(approval)
  const [chosen, setChosen] = useState<readonly (readonly string[])[]>(questions.map(() => []))
  const [own, setOwn] = useState<readonly string[]>(questions.map(() => ''))
  const given = questions.map((_, at) => [
    ...chosen[at]!,
    ...(own[at]!.trim() === '' ? [] : [own[at]!.trim()]),
  ])
  const isWhole = given.every((one) => one.length > 0)

  function answer(): void {
    if (!isWhole) return
    const [first] = questions
    const isPlain = questions.length === 1 && first!.options.length === 0
    void send(
      'answer',
      isPlain ? reply(approval.id, given[0]!.join('\n')) : replies(approval.id, answersFor(questions, given)),
    )
  }

  return (
    <form class="decision-form" onSubmit={stop(answer)}>
      {questions.map((question, at) => (
        <QuestionFields
          key={at}
          isFirst={at === 0}
          question={question}
          chosen={chosen[at]!}
          own={own[at]!}
          onChosen={(labels) => setChosen(chosen.with(at, labels))}
          onOwn={(text) => setOwn(own.with(at, text))}
        />
      ))}
      <div class="decision-answers">
        <Button kind="primary" type="submit" label="Answer" disabled={!isWhole} busy={sending === 'answer'} />
        <Button
          kind="quiet"
          label="Do not answer"
          busy={sending === 'refuse'}
          onClick={() => void send('refuse', refusal(approval.id, ''))}
        />
      </div>
    </form>
  )
}

interface QuestionFieldsProps {
  isFirst: boolean
  question: Question
  chosen: readonly string[]
  own: string
  onChosen(labels: readonly string[]): void
  onOwn(text: string): void
}

function QuestionFields({ isFirst, question, chosen, own, onChosen, onOwn }: QuestionFieldsProps) {
  const { multiple, options } = question
  const name = useRef(`question-${Math.random().toString(36).slice(2)}`)

  function choose(label: string): void {
    if (!multiple) return onChosen([label])
    onChosen(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label])
  }

  return (
    <fieldset class="decision-question">
      <legend>
        {question.header !== null && <span class="badge">{inertLine(question.header)}</span>}
        {inert(question.question)}
      </legend>
      {options.map(({ label, description }, at) => (
        <label key={label} class="decision-option">
          <input
            data-answer={isFirst ? at + 1 : undefined}
            type={multiple ? 'checkbox' : 'radio'}
            name={name.current}
            checked={chosen.includes(label)}
            onChange={() => choose(label)}
          />
          <span>
            {inert(label)}
            {description !== null && <small class="muted">{inert(description)}</small>}
          </span>
        </label>
      ))}
      <input
        class="input"
        aria-label={options.length > 0 ? 'Something else' : 'Your answer'}
        placeholder={options.length > 0 ? 'Something else…' : 'Your answer…'}
        value={own}
        onInput={(event) => {
          onOwn(event.currentTarget.value)
          if (!multiple && event.currentTarget.value !== '') onChosen([])
        }}
      />
    </fieldset>
  )
}

/** Enter alone begins a line. */
function submitOnKey(event: preact.TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}

function stop(then: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault()
    then()
  }
}

/** Once, when it appears. */
function focus(element: HTMLElement | null): void {
  element?.focus()
}
