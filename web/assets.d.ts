/** Made by the build: where it has put what is loaded later. */
declare module 'corral:assets' {
  /** Changes with every file of the dashboard. */
  export const BUILD: string
  /** The sprite with the icons of `icons.ts`. */
  export const SPRITE: string
  /** Style sheets of `style/lazy/`, by name. */
  export const STYLES: Readonly<Record<string, string>>
  /** Scripts of `worker/`, by name. */
  export const WORKERS: Readonly<Record<string, string>>
}

/** Made by the build, for the service worker only. */
declare module 'corral:precache' {
  export const BUILD: string
  /** Every file with a hash in its name. */
  export const FILES: readonly string[]
  /** The page that says that the daemon cannot be reached. */
  export const OFFLINE: string
}
