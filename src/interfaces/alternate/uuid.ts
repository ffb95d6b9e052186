const WITHOUT_DASHES = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** Normalizes a UUID. Like Django REST framework, accepts either case, with or without dashes. Other texts are returned in lower case. */
export const toUuid = (text: string): string => text.toLowerCase().replace(WITHOUT_DASHES, '$1-$2-$3-$4-$5')
