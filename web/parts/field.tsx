import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** What a control of a field must carry, so that its label, hint and error belong to it. */
export interface FieldControl {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/** A label, a control, and what is to be known or wrong about it. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string
  hint?: ComponentChildren
  error?: string | null | undefined
  children(control: FieldControl): ComponentChildren
}) {
  const id = useId()
  const hasError = typeof error === 'string'
  const about = [hint !== undefined && `${id}-hint`, hasError && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': about || undefined, 'aria-invalid': hasError || undefined })}
      {hint !== undefined && (
        <div class="field-hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {hasError && (
        <div class="field-error" id={`${id}-error`} role="alert">
          <Icon name="circle-alert" />
          {error}
        </div>
      )}
    </div>
  )
}
