/**
 * The agent of sessions that Corral does not run: something elsewhere asks its questions here. Such a session is
 * answered, never written to.
 */
export const EXTERNAL_AGENT = 'external'
