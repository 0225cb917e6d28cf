import { z } from 'zod'

const address = z.url({ protocol: /^https?$/ })
const word = z.string().min(1)
const port = z.int().min(0).max(65_535)

/** Who is asked to sign people in, and as whom. Nobody is contacted before somebody begins to sign in. */
export const signinSchema = z.strictObject({
  keychain: z
    .boolean()
    .default(true)
    .describe("keep secrets in the operating system's keychain where there is one; false: in a file"),
  timeoutMs: z
    .int()
    .min(1000)
    .max(60 * 60 * 1000)
    .default(15 * 60 * 1000)
    .describe('how long a sign-in waits for its person'),
  openaiIssuer: address.default('https://auth.openai.com').describe('who signs people in for Codex'),
  openaiClientId: word
    .default('app_EMoamEEZ73f0CkXaXp7hrann')
    .describe("who Corral is there; by default Codex's own public client, since Codex gets the account"),
  openaiScopes: word.default('openid profile email offline_access').describe('what is asked for'),
  openaiPort: port
    .default(1455)
    .describe('where the browser comes back to, if it is free; the default is registered'),
  antigravityIssuer: address
    .default('https://accounts.google.com')
    .describe('who signs people in for Gemini CLI'),
  antigravityClientId: word
    .nullable()
    .default(null)
    .describe('who Corral is there; null: signing in is not offered'),
  antigravityClientSecret: word
    .nullable()
    .default(null)
    .describe('what Google calls the secret of an installed application'),
  antigravityScopes: word
    .default('openid email profile https://www.googleapis.com/auth/cloud-platform')
    .describe('what is asked for'),
  antigravityPort: port.default(0).describe('where the browser comes back to; 0 takes any free one'),
})
