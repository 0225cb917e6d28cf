import type { ComponentChildren } from 'preact'
import type { IconName } from '../icons.ts'
import { Icon } from './icon.tsx'

/** What stands where there is nothing to show: why, and what to do about it. */
export function Empty({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName
  title: string
  children?: ComponentChildren
  actions?: ComponentChildren
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div class="empty-actions">{actions}</div>}
    </div>
  )
}
