/**
 * A regular expression that is made when it is first used, and once. A literal of a module would lie in a board's ROM: there each use takes memory that is
 * never given back, and the machine ends if garbage is collected meanwhile (SDK 8.2.3, fxAllocateRegExpData). One in a function is made at each call.
 */
export const lazyRegExp = (make: () => RegExp): (() => RegExp) => {
  let made: RegExp | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
