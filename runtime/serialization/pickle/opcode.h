#pragma once

#include <cstdint>

namespace tenon::serialization {

/// Opcodes of pickle protocols 0 to 5, with pickletools' names. The letters are those of protocols
/// 0 and 1, in which pickles were lines of text.
enum class Opcode : uint8_t {
  // The machine: stack, marks, memo.
  Proto = 0x80,
  Frame = 0x95,
  Stop = '.',
  Mark = '(',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  Put = 'p',
  BinPut = 'q',
  LongBinPut = 'r',
  Memoize = 0x94,
  Get = 'g',
  BinGet = 'h',
  LongBinGet = 'j',
  // Numbers.
  None = 'N',
  NewTrue = 0x88,
  NewFalse = 0x89,
  Int = 'I',
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  Long = 'L',
  Long1 = 0x8a,
  Long4 = 0x8b,
  Float = 'F',
  BinFloat = 'G',
  // Texts: of Unicode, of Python 2, and bytes.
  Unicode = 'V',
  BinUnicode = 'X',
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  String = 'S',
  BinString = 'T',
  ShortBinString = 'U',
  BinBytes = 'B',
  ShortBinBytes = 'C',
  BinBytes8 = 0x8e,
  ByteArray8 = 0x96,
  // Containers.
  EmptyTuple = ')',
  Tuple = 't',
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  EmptyList = ']',
  List = 'l',
  Append = 'a',
  Appends = 'e',
  EmptyDict = '}',
  Dict = 'd',
  SetItem = 's',
  SetItems = 'u',
  EmptySet = 0x8f,
  AddItems = 0x90,
  FrozenSet = 0x91,
  // Classes, functions and their calls.
  Global = 'c',
  StackGlobal = 0x93,
  Reduce = 'R',
  NewObj = 0x81,
  NewObjEx = 0x92,
  Build = 'b',
  BinPersId = 'Q',
  // Known, but not accepted.
  Inst = 'i',
  Obj = 'o',
  PersId = 'P',
  Ext1 = 0x82,
  Ext2 = 0x83,
  Ext4 = 0x84,
  NextBuffer = 0x97,
  ReadonlyBuffer = 0x98,
};

}  // namespace tenon::serialization
