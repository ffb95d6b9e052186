import type { NeutralQuestion } from '../../../kinds/neutral.ts'

/** Sample questions of each type, to be overwritten. */
export const TEMPLATE: NeutralQuestion[] = [
  {
    name: 'Capital of France',
    category: 'Geography / Europe',
    text: 'What is the capital of France?',
    isFormatted: false,
    points: 1,
    answer: {
      as: 'options',
      several: false,
      options: [
        { text: 'Paris', share: 100 },
        { text: 'Rome', share: 0 },
        { text: 'Madrid', share: 0 },
      ],
    },
  },
  {
    name: 'Prime numbers',
    category: 'Math',
    text: 'Which of these are prime numbers?',
    isFormatted: false,
    points: 2,
    answer: {
      as: 'options',
      several: true,
      options: [
        { text: '2', share: 50 },
        { text: '4', share: -50 },
        { text: '5', share: 50 },
        { text: '9', share: -50 },
      ],
    },
  },
  {
    name: 'Pi',
    category: 'Math',
    text: 'What is π, to two decimals?',
    isFormatted: false,
    points: 1,
    answer: { as: 'number', ranges: [{ value: '3.14', tolerance: '0.01', share: 100 }] },
  },
  {
    name: 'Largest planet',
    category: 'Science',
    text: 'Which is the largest planet?',
    isFormatted: false,
    points: 1,
    answer: {
      as: 'words',
      accepted: [
        { text: 'Jupiter', share: 100 },
        { text: 'planet Jupiter', share: 100 },
      ],
    },
  },
  {
    name: 'Capitals',
    category: 'Geography / Europe',
    text: 'Which city is the capital of which country?',
    isFormatted: false,
    points: 2,
    answer: {
      as: 'pairs',
      pairs: [
        ['Norway', 'Oslo'],
        ['Sweden', 'Stockholm'],
        ['', 'Helsinki'],
      ],
    },
  },
  {
    name: 'About you',
    category: '',
    text: 'Please introduce yourself in a few sentences.',
    isFormatted: false,
    points: 5,
    answer: { as: 'open', responseType: 'text' },
  },
]
