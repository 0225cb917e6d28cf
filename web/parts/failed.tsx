import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** Says that something could not be had, why, and lets the person try again. */
export function Failed({ what, problem, onRetry }: { what: string; problem: string; onRetry?: () => void }) {
  return (
    <div class="failed" role="alert">
      <Icon name="triangle-alert" />
      <div class="failed-text">
        <strong>{what}</strong>
        <span>{problem}</span>
      </div>
      {onRetry && <Button icon="refresh-cw" label="Try again" onClick={onRetry} />}
    </div>
  )
}
