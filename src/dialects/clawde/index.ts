export { createClawdeListener } from './listener.ts'
export { clawdeSettings } from './settings.ts'
