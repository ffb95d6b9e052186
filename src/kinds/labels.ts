import { questionTypes } from './authors.ts'

const labeledOffers = [...questionTypes.scored, ...questionTypes.graded].filter(({ preset }) => preset === undefined)

/** Response types with a label. */
export const LABELED_RESPONSE_TYPES: readonly string[] = [...new Set(labeledOffers.map(({ word }) => word))]

/** Label of a response type. A type that an organization has invented is returned unchanged. */
export const labelKind = (responseType: string): string =>
  labeledOffers.find(({ word }) => word === responseType)?.label ?? responseType
