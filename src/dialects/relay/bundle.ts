import type { CallRecord } from '../../relay/records/call-records.ts'
import type { LicenseView } from '../../relay/license/license.ts'
import type { ProviderStatus } from '../../relay/providers/cascade.ts'
import { scrubAll } from '../../relay/redact.ts'
import type { RelaySettings } from '../../relay/settings/schema.ts'

export interface BundleParts {
  version: unknown
  /** As they are shown: keys are redacted there already. */
  settings: RelaySettings
  license: LicenseView
  pool: unknown
  providers: ProviderStatus[]
  calls: readonly CallRecord[]
}

const LAST_ERRORS = 20

/** What one may put into a bug report: no key, no prompt, no answer, whatever was kept of them. */
export function debugBundle(parts: BundleParts, secrets: readonly string[]): unknown {
  const { version, settings, license, pool, providers, calls } = parts
  const errors = calls.filter(({ status }) => status === 'error').slice(-LAST_ERRORS)
  const bundle = {
    version,
    settings,
    license,
    pool,
    providers,
    recent_calls_count: calls.length,
    last_errors: errors.map(({ id, completedAt, model, provider, error }) => ({
      id,
      completed_at: completedAt,
      model,
      provider,
      error,
    })),
  }
  return scrubAll(bundle, secrets)
}
