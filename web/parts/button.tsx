import type { IconName } from '../icons.ts'
import { Icon } from './icon.tsx'
import { Spinner } from './spinner.tsx'

export interface ButtonProps {
  /** What it does. With `iconOnly` it is read out, and shown when pointed at. */
  label: string
  onClick?: ((event: MouseEvent) => void) | undefined
  kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  icon?: IconName
  iconOnly?: boolean
  type?: 'button' | 'submit'
  /** It keeps the focus, and does nothing. */
  disabled?: boolean
  /** The same, with a sign that something goes on. */
  busy?: boolean
  /** For one that shows and hides something. */
  expanded?: boolean
  /** For one that is on or off. */
  pressed?: boolean
  /** The key that does the same, as `aria-keyshortcuts` has it. */
  shortcut?: string
  /** On a decision: the number that presses it. */
  answer?: number | undefined
  class?: string
}

export function Button(props: ButtonProps) {
  const { label, onClick, kind = 'plain', icon, iconOnly = false, type = 'button', busy = false } = props
  const isOff = props.disabled === true || busy
  const names = ['button', `button-${kind}`, iconOnly && 'button-icon', props.class].filter(Boolean)
  return (
    <button
      type={type}
      class={names.join(' ')}
      aria-disabled={isOff || undefined}
      aria-expanded={props.expanded}
      aria-pressed={props.pressed}
      aria-keyshortcuts={props.shortcut ?? props.answer?.toString()}
      data-answer={props.answer}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
      onClick={(event) => {
        if (isOff) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {busy ? <Spinner /> : icon && <Icon name={icon} />}
      {!iconOnly && label}
    </button>
  )
}
