import type { Rubric } from '../../src/domain/assessments/rubric.ts'

/** Three criteria with nine points in total. */
export const RUBRIC: Rubric = [
  {
    name: 'Accuracy',
    levels: [
      { text: 'Meaning is lost', points: 0 },
      { text: 'Small omissions', points: 2 },
      { text: 'Complete', points: 4 },
    ],
  },
  {
    name: 'Fluency',
    levels: [
      { text: 'Breaks off', points: 0 },
      { text: 'Flows', points: 3 },
    ],
  },
  {
    name: 'Terminology',
    levels: [
      { text: 'Wrong', points: 0.5 },
      { text: 'Precise', points: 2 },
    ],
  },
]
export const RUBRIC_POINTS = 9
