import { WORKERS } from 'corral:assets'

/*
 * The page's policy lets no text become HTML at all, and none become the address of a script unless it is one of ours. What
 * agents say is drawn as elements and text (parts/markdown/render.ts).
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
