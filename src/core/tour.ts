/** What somebody who sees Corral for the first time has the demo agent do. */
export const TOUR_MESSAGE = 'Write a small program that greets people, with a test. Then run the test.'

/** The folder of the data directory in which it does that. Nowhere else do the demo agent's tools do anything. */
export const TOURS = 'tours'
