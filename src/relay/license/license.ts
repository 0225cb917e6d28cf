import { RelayFailure } from '../failure.ts'

/** As `GET /v1/license` has it. */
export interface LicenseView {
  /** There is a key. */
  configured: boolean
  license: License
  /** When somebody was asked last, in milliseconds since 1970. */
  refreshedAt: number
}

export interface License {
  valid: boolean
  tier: string
  features: string[]
  usageThisMonth: number
  /** Null: there is none. */
  usageCap: number | null
  capExceeded: boolean
  lastCapChange: number
  topUpGrants: number
}

/** A call that may be made. It is counted when it is about to be answered, and not at all when nobody answers. */
export interface Reservation {
  /** Resolves when the count is safe; nothing may be answered before. */
  count(): Promise<void>
  /** The call came to nothing. Without effect after `count`. */
  free(): void
}

/** Whether calls may be made, and how many. */
export interface LicensePolicy {
  view(): LicenseView
  /** Asks anew, whatever is known. */
  refresh(): Promise<LicenseView>
  /** Throws a `RelayFailure` with 402. */
  admit(): Promise<Reservation>
  close(): void
}

const UNLIMITED: Reservation = { count: () => Promise.resolve(), free: () => undefined }

/** The default: everything is allowed and nobody is asked. A key that there is all the same is nobody's business. */
export function noLicense({ hasKey, now }: { hasKey: () => boolean; now: () => number }): LicensePolicy {
  let refreshedAt = now()
  const view = (): LicenseView => ({
    configured: hasKey(),
    license: {
      valid: true,
      tier: 'self-hosted',
      features: ['streaming'],
      usageThisMonth: 0,
      usageCap: null,
      capExceeded: false,
      lastCapChange: 0,
      topUpGrants: 0,
    },
    refreshedAt,
  })
  return {
    view,
    refresh() {
      refreshedAt = now()
      return Promise.resolve(view())
    },
    admit: () => Promise.resolve(UNLIMITED),
    close: () => undefined,
  }
}

/** The policy that the settings ask for at the moment. */
export function licenseBySettings(
  isRemote: () => boolean,
  { off, remote }: { off: LicensePolicy; remote: LicensePolicy },
): LicensePolicy {
  const chosen = (): LicensePolicy => (isRemote() ? remote : off)
  return {
    view: () => chosen().view(),
    refresh: () => chosen().refresh(),
    admit: () => chosen().admit(),
    close: () => remote.close(),
  }
}

export function licenseInvalid(dashboardUrl: string): RelayFailure {
  return new RelayFailure(402, 'billing_error', 'License invalid', {
    extra: { code: 'license_invalid', dashboardUrl },
  })
}

/** `used` is what it would be with this call. */
export function capExceeded(given: {
  tier: string
  used: number
  cap: number
  topUpUrl: string
}): RelayFailure {
  const { tier, used, cap, topUpUrl } = given
  const message = `Monthly usage cap reached (${used} / ${cap}). Top up to continue.`
  return new RelayFailure(402, 'billing_error', message, {
    extra: { code: 'cap_exceeded', tier, used, cap, topUpUrl },
  })
}
