/** A UUID in its 8-4-4-4-12 form, in either case. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const uuid = new RegExp(UUID_PATTERN)

export const isUuid = (text: string): boolean => uuid.test(text)
