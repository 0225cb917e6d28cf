import type { Api } from '../../client/client.ts'
import { Icon } from '../icon.tsx'
import { useCall } from '../use-call.ts'

type Rules = Pick<NonNullable<Api['rules.check']['params']['rules']>, 'allow' | 'deny'>

/** Rules that cannot do what they seem to, and why. */
export function RuleAdvice({ rules: { allow = [], deny = [] } }: { rules: Rules }) {
  const { data } = useCall('rules.check', { rules: { allow, deny } })
  if (!data || data.warnings.length === 0) return null
  return (
    <ul class="rule-advice small" role="status">
      {data.warnings.map(({ rule, message }) => (
        <li key={`${rule} ${message}`} class="along">
          <Icon name="triangle-alert" />
          <span class="along-main">
            <code>{rule}</code> {message}.
          </span>
        </li>
      ))}
    </ul>
  )
}
