import { WORKERS } from 'corral:assets'

/*
 * The page's policy lets no text become the address of a script, unless it went through here. No text becomes HTML: what agents
 * say is made into elements one by one.
 */

interface Policy {
  createScriptURL(url: string): string
}

interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}

const SCRIPTS: ReadonlySet<string> = new Set(['/sw.js', ...Object.values(WORKERS)])

const RULES: Policy = {
  createScriptURL(url) {
    if (!SCRIPTS.has(url)) throw new TypeError(`not a script of ours: ${url}`)
    return url
  },
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }

/** The only policy of the dashboard. Browsers without Trusted Types use its rules as they are. */
const policy: Policy = trustedTypes?.createPolicy('corral', RULES) ?? RULES

/** The address of a worker of the dashboard, as `Worker` and `register` want it. */
export function scriptUrl(url: string): string {
  return policy.createScriptURL(url)
}
