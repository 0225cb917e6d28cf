import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export interface Option<T extends string> {
  value: T
  label: string
}

/** One of a few, side by side. Arrow keys choose. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string
  options: readonly Option<T>[]
  value: T
  onChange(value: NoInfer<T>): void
}) {
  const root = useRef<HTMLDivElement>(null)
  function choose(index: number): void {
    const option = options[(index + options.length) % options.length]!
    onChange(option.value)
    root.current?.querySelectorAll<HTMLElement>('[role=radio]')[options.indexOf(option)]?.focus()
  }
  return (
    <div ref={root} class="choices" role="radiogroup" aria-label={label}>
      {options.map((option, index) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          class="choice"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChange(option.value)}
          onKeyDown={(event) => {
            const step = STEPS[event.key]
            if (step === undefined) return
            event.preventDefault()
            choose(index + step)
          }}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

/** On or off, with what it means. */
export function Switch({
  label,
  hint,
  checked,
  disabled = false,
  onChange,
}: {
  label: string
  hint?: ComponentChildren
  checked: boolean
  disabled?: boolean
  onChange(checked: boolean): void
}) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span class="switch-text">
        {label}
        {hint !== undefined && <span class="muted small">{hint}</span>}
      </span>
    </label>
  )
}
